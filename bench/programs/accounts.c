#include "ledger.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum operation { DEPOSIT, WITHDRAW, INTEREST, AUDIT, SKIP };

struct summary {
    int64_t total;
    int64_t largest;
    size_t count;
    const struct entry **entries;
};

static enum operation classify(const char *word)
{
    switch (tolower((unsigned char)word[0])) {
    case 'd': return DEPOSIT;
    case 'w': return WITHDRAW;
    case 'i': return INTEREST;
    case 'a': return AUDIT;
    default: return SKIP;
    }
}

static int64_t parse_amount(const char *text)
{
    int64_t value = 0;
    for (; isdigit((unsigned char)*text); text++)
        value = value * 10 + (*text - '0');
    return value;
}

static int64_t with_interest(int64_t amount, int percent)
{
    double grown = (double)amount;
    for (int year = 0; year < 5; year++)
        grown += grown * percent / 100.0;
    return (int64_t)grown;
}

static void collect(const struct entry *entry, void *context)
{
    struct summary *summary = context;
    summary->entries[summary->count++] = entry;
    summary->total += entry->amount;
    if (entry->amount > summary->largest)
        summary->largest = entry->amount;
}

static int by_amount(const void *left, const void *right)
{
    const struct entry *a = *(const struct entry *const *)left;
    const struct entry *b = *(const struct entry *const *)right;
    return (a->amount > b->amount) - (a->amount < b->amount);
}

static void audit(const struct ledger *ledger)
{
    struct summary summary = {0, INT64_MIN, 0, NULL};
    summary.entries = calloc(ledger->entry_count + 1, sizeof *summary.entries);
    if (!summary.entries)
        exit(2);
    ledger_each(ledger, collect, &summary);
    qsort(summary.entries, summary.count, sizeof *summary.entries, by_amount);
    for (size_t i = 0; i < summary.count; i++)
        printf("%-12s %" PRId64 "\n", summary.entries[i]->name, summary.entries[i]->amount);
    printf("total %" PRId64 ", largest %" PRId64 "\n", summary.total, summary.largest);
    free(summary.entries);
}

int apply(struct ledger *ledger, char *line)
{
    char *word = strtok(line, " ");
    char *name = strtok(NULL, " ");
    char *amount = strtok(NULL, " \n");
    if (!word)
        return 0;
    switch (classify(word)) {
    case DEPOSIT: return name && amount ? ledger_add(ledger, name, parse_amount(amount)) : -1;
    case WITHDRAW: return name && amount ? ledger_add(ledger, name, -parse_amount(amount)) : -1;
    case INTEREST: {
        const struct entry *entry = name ? ledger_find(ledger, name) : NULL;
        return entry ? ledger_add(ledger, name, with_interest(entry->amount, 3) - entry->amount) : -1;
    }
    case AUDIT: audit(ledger); return 0;
    default: return -1;
    }
}

int main(int argc, char **argv)
{
    struct ledger ledger;
    char line[256];
    int failures = 0;
    if (ledger_open(&ledger, 4))
        return 2;
    for (int i = 1; i < argc; i++) {
        snprintf(line, sizeof line, "%s", argv[i]);
        failures += apply(&ledger, line) != 0;
    }
    while (fgets(line, sizeof line, stdin))
        failures += apply(&ledger, line) != 0;
    audit(&ledger);
    ledger_close(&ledger);
    return failures != 0;
}
