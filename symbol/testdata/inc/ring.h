/* Included from another directory: its lines belong to another file. */
static inline __attribute__((always_inline)) int ring_next(volatile int *at, int step)
{
    for (int i = 0; i < step; i++)
        *at = *at * 5 + 1;
    return *at;
}
