/* calls: inlined calls over three files, split functions, aliases, stubs.
 *
 * Build: gcc -O2 -g -I inc calls.c
 */
#include <stdio.h>
#include <stdlib.h>

#include "inc/ring.h"
#include "near.h"

volatile int state;

static inline __attribute__((always_inline)) int twice(int a)
{
    return near_mix(&state) * a + near_mix(&state);
}

/* GCC moves what is unlikely to calls_split.cold. */
__attribute__((noinline)) int calls_split(int a)
{
    if (__builtin_expect(a > 1000, 0)) {
        fprintf(stderr, "too large: %d\n", a);
        abort();
    }
    return twice(a) + 1;
}

__attribute__((noinline)) static int no_arguments(void)
{
    return near_mix(&state);
}

int plain_name(int a) { return a + state; }
extern int strong_alias(int a) __attribute__((alias("plain_name")));
extern int weak_alias(int a) __attribute__((weak, alias("plain_name")));

int renamed(int a) __asm__("asm_level_name");
__attribute__((noinline)) int renamed(int a) { return a * state; }

__asm__(".text\n.globl asm_without_size\nasm_without_size:\n nop\n nop\nasm_label:\n nop\n ret\n"
        ".type asm_function, @function\n.globl asm_function\nasm_function:\n nop\nasm_inside:\n nop\n ret\n"
        ".size asm_function, .-asm_function\n");

int main(int argc, char **argv)
{
    (void)argv;
    puts("calls");
    return twice(argc) + calls_split(argc) + no_arguments() + renamed(argc);
}
