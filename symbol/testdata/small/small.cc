namespace room {
struct box {
	int side;
	int area(int scale) const { __asm__ volatile(""); return side * side * scale; }
};
template <typename T> __attribute__((noinline)) T sum(const T &a, box *b) { return a + b->area(2); }
}
enum color : char { red };
int use(color c, int (*f)(unsigned long, ...), const char *const *v, int (&a)[3]) { room::box b{a[0]}; return room::sum(c + 1, &b) + f(1, v); }
extern "C" int _start() { return 0; }
