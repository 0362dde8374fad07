typedef int t16 __attribute__((aligned(16)));
struct s { t16 a; unsigned b : 3; union { double d; char c; } u; } __attribute__((packed));
static inline __attribute__((always_inline)) struct s i(struct s x) { return x; }
struct s f(a, b) struct s a; _Complex int b; { return i(a); }
