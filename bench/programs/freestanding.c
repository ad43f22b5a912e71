/* Needs no C library, so that a 32-bit build works where only a 64-bit one is installed. */

typedef unsigned int u32;

static u32 seed = 12345;

static inline u32 next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static inline void swap(u32 *a, u32 *b)
{
    u32 kept = *a;
    *a = *b;
    *b = kept;
}

void sort(u32 *first, u32 *last)
{
    while (last - first > 1) {
        u32 pivot = first[next_random() % (u32)(last - first)];
        u32 *low = first, *high = last - 1;
        while (low <= high) {
            while (*low < pivot)
                low++;
            while (*high > pivot)
                high--;
            if (low <= high)
                swap(low++, high--);
        }
        sort(first, high + 1);
        first = low;
    }
}

u32 checksum(const u32 *first, const u32 *last)
{
    u32 sum = 0;
    for (; first != last; first++)
        sum = sum * 31 + *first;
    return sum;
}

void _start(void)
{
    static u32 numbers[1024];
    for (u32 i = 0; i < 1024; i++)
        numbers[i] = next_random();
    sort(numbers, numbers + 1024);
    seed = checksum(numbers, numbers + 1024);
    for (;;)
        ;
}
