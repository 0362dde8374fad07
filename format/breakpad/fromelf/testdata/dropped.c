// Functions that nobody calls, and that the linker drops.
int used(int n);
int unused_a(int n) { volatile int k[8]; k[n & 7] = n; return k[3]; }
int unused_b(int n) { volatile int k[80]; k[n & 63] = used(n); return k[3] + used(k[1]); }
int used(int n) { volatile int k = n; return k * 3; }
int main(int c, char **v) { return used(c); }
