/* A stack of one thread whose names a test replaces by others of the same length. */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#line 1 "source_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB.c"
__attribute__((noinline)) int function_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA(int n)
{
    for (;;)
        pause();
    return n;
}

int main(int argc, char **argv)
{
    prctl(PR_SET_NAME, argc > 1 ? argv[1] : "hostilenames");
    puts("ready");
    fflush(stdout);
    return function_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA(1) + 1;
}
