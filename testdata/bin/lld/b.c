int b(int (*f)(int), int n) { volatile int k = n; return f(k) + k; }
int c(int (*f)(int), int n) { volatile int k[9]; k[n&7] = n; return f(k[3]) + k[2]; }
