/* Tail calls: one way from once to last, two from branch, one around a loop, and two that only the program knows. */
#define NI __attribute__((noinline, noclone))
int sink;
int (*volatile to)(int);
int far(int);
NI int last(int x) { __asm__ volatile("" : "+r"(x)); return x; }
NI int left(int x) { sink = 1; return last(x + 1); }
NI int right(int x) { sink = 2; return last(x + 2); }
NI int branch(int x) { sink = 3; return x ? left(x) : right(x); }
NI int once(int x) { sink = 4; return branch(x + 3); }
NI int far(int x) { sink = 5; return to(x); }
NI int odd(int x);
NI int even(int x) { sink = 6; return x > 9 ? odd(x - 1) : last(x); }
NI int odd(int x) { sink = 7; return even(x - 1); }
static inline __attribute__((always_inline)) int within(int x) { sink = 8; return even(x + 4); }
NI int beyond(int x) { sink = 9; return within(x + 5); }
int _start(void) { return once(1) + far(2) + beyond(3) + left(4); }
