/* The main thread waits in vfork(2), in uninterruptible sleep, for a child that
 * ends with standard input. Another thread just sleeps. */
#include "target.h"

static void *sleeper(void *arg) {
    for (;;)
        pause();
    return arg;
}

int main(void) {
    arm();
    start_thread(sleeper, 0);
    if (vfork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        char ready[] = "ready\n", c;
        if (write(1, ready, 6) != 6)
            _exit(3);
        while (read(0, &c, 1) > 0)
            ;
        _exit(0);
    }
    _exit(0);
}
