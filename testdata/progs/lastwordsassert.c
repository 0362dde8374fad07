/* Fails an assertion in a program that has assert's function itself: it writes what musl's writes, or, in a program
   that has the rest of glibc, what glibc's writes without the program's name. It keeps nothing. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void __assert_fail(const char *expression, const char *file, unsigned int line, const char *function)
{
#ifdef GLIBC
    fprintf(stderr, "%s:%d: %s: Assertion `%s' failed.\n", file, line, function, expression);
#else
    fprintf(stderr, "Assertion failed: %s (%s: %s: %d)\n", expression, file, function, line);
#endif
    abort();
}

volatile int n;

static __attribute__((noinline)) int checks(const char *which)
{
    assert(n == 0 && "always");
    for (int i = 0; i < n; i++)
        assert(i < 0);
    switch (which[0]) {
    case 'f':
        assert(n > 0 && "first");
    case 's':
        assert(which[n] == 0 || n > 0);
    case 't':
        assert(strlen(which) == 1000);
    }
    return n;
}

int main(int argc, char **argv)
{
    (void)argc;
    assert(checks(argv[1]) == 1);
    return 0;
}
