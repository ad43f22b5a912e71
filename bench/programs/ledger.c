#include "ledger.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void __attribute__((noinline, cold, format(printf, 1, 2))) complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

static struct entry **slot_of(const struct ledger *ledger, const char *name)
{
    return &ledger->buckets[hash_name(name) & (ledger->bucket_count - 1)];
}

static struct entry *find_in(struct entry *entry, const char *name)
{
    for (; entry; entry = entry->next)
        if (strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}

static int grow(struct ledger *ledger)
{
    size_t wider = ledger->bucket_count * 2;
    struct entry **fresh = calloc(wider, sizeof *fresh);
    if (!fresh) {
        complain("no room for %zu buckets\n", wider);
        return -1;
    }
    for (size_t i = 0; i < ledger->bucket_count; i++) {
        struct entry *entry = ledger->buckets[i];
        while (entry) {
            struct entry *next = entry->next;
            struct entry **slot = &fresh[hash_name(entry->name) & (wider - 1)];
            entry->next = *slot;
            *slot = entry;
            entry = next;
        }
    }
    free(ledger->buckets);
    ledger->buckets = fresh;
    ledger->bucket_count = wider;
    return 0;
}

int ledger_open(struct ledger *ledger, size_t bucket_count)
{
    if (bucket_count == 0 || (bucket_count & (bucket_count - 1))) {
        complain("%zu is no power of two\n", bucket_count);
        return -1;
    }
    ledger->buckets = calloc(bucket_count, sizeof *ledger->buckets);
    ledger->bucket_count = bucket_count;
    ledger->entry_count = 0;
    return ledger->buckets ? 0 : -1;
}

int ledger_add(struct ledger *ledger, const char *name, int64_t amount)
{
    struct entry **slot = slot_of(ledger, name);
    struct entry *entry = find_in(*slot, name);
    if (entry) {
        if (__builtin_add_overflow(entry->amount, amount, &entry->amount)) {
            complain("%s overflows\n", name);
            abort();
        }
        return 0;
    }
    entry = malloc(sizeof *entry);
    if (!entry) {
        complain("no room for %s\n", name);
        return -1;
    }
    snprintf(entry->name, sizeof entry->name, "%s", name);
    entry->amount = amount;
    entry->next = *slot;
    *slot = entry;
    if (++ledger->entry_count > ledger->bucket_count * 2)
        return grow(ledger);
    return 0;
}

const struct entry *ledger_find(const struct ledger *ledger, const char *name)
{
    return find_in(*slot_of(ledger, name), name);
}

void ledger_each(const struct ledger *ledger, entry_visitor visit, void *context)
{
    for (size_t i = 0; i < ledger->bucket_count; i++)
        for (const struct entry *entry = ledger->buckets[i]; entry; entry = entry->next)
            visit(entry, context);
}

void ledger_close(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->bucket_count; i++)
        while (ledger->buckets[i]) {
            struct entry *next = ledger->buckets[i]->next;
            free(ledger->buckets[i]);
            ledger->buckets[i] = next;
        }
    free(ledger->buckets);
}
