/* Included from the source's own directory. */
static inline __attribute__((always_inline)) int near_mix(volatile int *at)
{
    *at ^= 7;
    int a = ring_next(at, 3);
    return a + ring_next(at, a);
}
