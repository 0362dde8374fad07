/* begins: a library whose constructor never returns.
 *
 * Proves: a stack ends where the kernel has started the dynamic linker.
 *
 * With LD_PRELOAD the dynamic linker calls the constructor when the program is loaded
 * (_dl_start_user > _dl_init), with LD_AUDIT while it is (_start > _dl_start > dl_main).
 *
 * Build: gcc -g -O2 -shared -fPIC begins.c
 */
#include <unistd.h>

#include "ready.h"

__attribute__((constructor)) static void begins(void) {
    arm();
    ready();
    block();
}
