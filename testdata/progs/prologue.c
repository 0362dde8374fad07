/* prologue: functions whose arguments are stored before the first line of the body.
 *
 * Proves: a breakpoint belongs behind the stores, where gdb puts it.
 *
 * Build: gcc -g -O0 prologue.c
 */
int bar(int a, int b, char *c) {
    int x = a * b;
    return x + *c;
}

double mixed(double a, int b, float c, const char *d) { return a * b + c + *d; }

long sum(int n, ...) {
    __builtin_va_list list;
    long s = 0;
    for (__builtin_va_start(list, n); n > 0; n--)
        s += __builtin_va_arg(list, long);
    __builtin_va_end(list);
    return s;
}

int main(void) {
    char k = 3;
    return bar(1, 2, &k) + (int)mixed(1, 2, 3, &k) + (int)sum(2, 3L, 4L);
}
