#ifndef LEDGER_H
#define LEDGER_H

#include <stddef.h>
#include <stdint.h>

struct entry {
    char name[32];
    int64_t amount;
    struct entry *next;
};

struct ledger {
    struct entry **buckets;
    size_t bucket_count;
    size_t entry_count;
};

typedef void (*entry_visitor)(const struct entry *, void *);

static inline uint32_t hash_step(uint32_t hash, unsigned char byte)
{
    hash ^= byte;
    return hash * 16777619u;
}

static inline uint32_t hash_name(const char *name)
{
    uint32_t hash = 2166136261u;
    while (*name)
        hash = hash_step(hash, (unsigned char)*name++);
    return hash;
}

int ledger_open(struct ledger *ledger, size_t bucket_count);
int ledger_add(struct ledger *ledger, const char *name, int64_t amount);
const struct entry *ledger_find(const struct ledger *ledger, const char *name);
void ledger_each(const struct ledger *ledger, entry_visitor visit, void *context);
void ledger_close(struct ledger *ledger);

#endif
