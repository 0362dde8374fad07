/* dlopen: a library that is loaded at run time calls back and blocks.
 *
 * Proves: modules found in the process's maps, not in a list made at start.
 *   main > call_plugin > plugin_entry > plugin_inner > callback > block
 * with plugin_* in the library.
 *
 *   dlopen PATH-OF-plugin.so
 *
 * Build: gcc -g -O2 -Wa,--gsframe dlopen.c -ldl
 *        gcc -g -O2 -Wa,--gsframe -shared -fPIC -o plugin.so plugin.c
 */
#include <dlfcn.h>

#include "ready.h"

typedef long (*entry_t)(long (*)(long), long);

static NOINLINE long callback(long n) {
    ready();
    block();
    KEEP(n);
    return n;
}

NOINLINE long call_plugin(entry_t entry, long n) {
    long r = entry(callback, n);
    KEEP(r);
    return r + 1;
}

int main(int argc, char **argv) {
    arm();
    if (argc != 2)
        return 2;
    void *lib = dlopen(argv[1], RTLD_NOW);
    if (!lib)
        return 4;
    entry_t entry = (entry_t)dlsym(lib, "plugin_entry");
    if (!entry)
        return 5;
    return (int)call_plugin(entry, argc);
}
