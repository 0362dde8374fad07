/* Functions with unwind codes: small and large frames, saved registers, a recursion. */
volatile int sink;
__attribute__((noinline)) int leaf(int a)
{
    volatile char b[200];
    for (int i = 0; i < a; i++)
        b[i] = i;
    return b[a / 2];
}
__attribute__((dllexport, noinline)) int large(int n)
{
    volatile char b[3000];
    b[n] = leaf(n);
    return b[n] + leaf(n + 1);
}
__attribute__((dllexport, noinline)) int many(int a, int b, int c, int d, int e, int f)
{
    int s = 0;
    for (int i = 0; i < a; i++)
        s += leaf(b + i) * leaf(c) + leaf(d) * leaf(e + f);
    return sink = s;
}
__attribute__((dllexport, noinline)) int recurse(int n) { return n ? recurse(n - 1) + leaf(n) : many(1, 2, 3, 4, 5, 6); }
int DllMainCRTStartup(void *a, int b, void *c) { return 1; }
