/* Prints the address of a word that holds 0x1122334455667788, and blocks.
 * "idle THREADS" has so many threads more. With -DLIBRARY it calls into a shared
 * library first. */
#include "target.h"

static volatile unsigned long word = 0x1122334455667788;

#ifdef LIBRARY
int answer(void);
#endif

static void *sleeper(void *arg) {
    for (;;)
        pause();
    return arg;
}

int main(int argc, char **argv) {
    arm();
#ifdef LIBRARY
    if (answer() == 0)
        return 3;
#endif
    if (argc > 1)
        for (int i = atoi(argv[1]); i > 0; i--)
            start_thread(sleeper, 0);
    SAY("ready\n");
    SAY("%p\n", (void *)&word);
    block();
}
