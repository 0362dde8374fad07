/* arm.c: functions whose exception tables have inline codes, codes of their own, a refusal, and a frame pointer. */
volatile int sink;
__attribute__((noinline)) int leaf(int a) { return sink = a * 3; }
__attribute__((noinline)) int few(int a) { return leaf(a) + leaf(a + 1); }
__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f)
{
    volatile char room[3000];
    room[a] = leaf(b);
    return room[a] + leaf(c) * leaf(d) + leaf(e) * leaf(f) + few(a * b);
}
__attribute__((noinline)) double real(double a, double b, int n) { return n ? real(b, a + leaf(n), n - 1) * a + b : a; }
__attribute__((noinline)) int dynamic(int n)
{
    volatile char *room = __builtin_alloca(n);
    room[0] = few(n);
    return room[0] + many(1, 2, 3, 4, n, 6);
}
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}
void _start(void) { sink = dynamic(7) + (int)real(1, 2, 3); for (;;); }
