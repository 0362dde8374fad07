/* Does what a compiler's sanitizer finds, as its argument says. */
#include <limits.h>
#include <stdlib.h>

volatile int n = 20;

int main(int argc, char **argv)
{
    char *volatile p = malloc(10);
    volatile char small[8] = {0};
    (void)argc;
    switch (argv[1][0]) {
    case 'h': /* heap */
        return p[n];
    case 'f': /* freed */
        free(p);
        return p[1];
    case 'd': /* double */
        free(p);
        free(p);
        break;
    case 's': /* stack */
        small[n] = 1;
        break;
    case 'z': /* zero */
        return *(volatile int *)(long)(n - 20);
    case 'o': /* overflow */
        return INT_MAX + n;
    case 'i': /* index */
        return small[n];
    case 'e': /* exponent */
        return 1 << (n + 20);
    }
    return 0;
}
