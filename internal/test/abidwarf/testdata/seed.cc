struct base { int b; }; struct d : base { char c; long l : 5; float a[2][3]; d(const d&); };
typedef float v __attribute__((vector_size(16))); enum e { A };
struct m { int d::*p; void (d::*q)(); v x; struct { int n; short s[]; } f; };
extern "C" void f(d, m &, e, long double, ...) {}
v g(_Complex float *c) { return v{*(float*)c}; }
