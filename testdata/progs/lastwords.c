/* Dies as its first argument says. With a second argument, SIGABRT has a handler that hangs. */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hang(int signal)
{
    (void)signal;
    write(1, "ready\n", 6);
    for (;;)
        pause();
}

volatile int n;

__attribute__((noinline)) static void smash(const char *s)
{
    volatile char small[8];
    for (int i = 0; s[i]; i++)
        small[i] = s[i];
}

__attribute__((noinline)) static void overflow(const char *s)
{
    char small[4];
    memcpy(small, s, 64 + n);
    puts(small);
}

int main(int argc, char **argv)
{
    if (argc > 2)
        signal(SIGABRT, hang);
    if (strcmp(argv[1], "assert") == 0)
        assert(n > 0 && "never");
    if (strcmp(argv[1], "lines") == 0)
        assert(n > 0 && "\x1b[31mred"
                        "\n");
    if (strcmp(argv[1], "free") == 0) {
        char *volatile p = malloc(100);
        free(p);
        free(p);
    }
    if (strcmp(argv[1], "top") == 0) {
        volatile size_t *volatile p = malloc(24);
        p[3] = ~(size_t)7;
        p = malloc(1 << 16); /* volatile: gcc leaves nothing out */
    }
    if (strcmp(argv[1], "smash") == 0)
        smash("more than there is room for, and more than that, and then some");
    if (strcmp(argv[1], "fortify") == 0)
        overflow("more than there is room for, and more than that, and then some, and still more of it");
    if (strcmp(argv[1], "silent") == 0)
        abort();
    if (strcmp(argv[1], "fault") == 0)
        *(volatile int *)8 = 1;
    return 0;
}
