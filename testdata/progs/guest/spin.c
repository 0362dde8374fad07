/* spin: a guest that computes and never rests, so that its emulator runs code that it
 * has made nearly always. SIGUSR1 does nothing to it.
 *
 * Build: aarch64-linux-gnu-gcc -O2 -static spin.c
 */
#include <unistd.h>

#include "guest.h"

static volatile unsigned long sum;

NOINLINE unsigned long mix(unsigned long n) {
    unsigned long s = n;
    double d = 1;
    for (unsigned long i = 0; i < n; i++) {
        s = s * 33 + i;
        if (s % 7 == 0)
            s ^= s >> 3;
        d = d * 1.5 + s;
    }
    return s + (unsigned long)d;
}

static void nothing(int sig) { (void)sig; }

int main(void) {
    alarm(120);
    on(SIGUSR1, nothing, 0);
    if (write(1, "ready\n", 6) != 6)
        return 1;
    for (;;)
        sum += mix(100000);
}
