/* Fails an assertion of GLib, whose header need not be there. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    void *glib = dlopen("libglib-2.0.so.0", RTLD_NOW);
    void (*failed)(const char *domain, const char *file, int line, const char *function, const char *expression);
    if (!glib || !(failed = (__typeof__(failed))dlsym(glib, "g_assertion_message_expr"))) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    failed("domain", "file.c", 12, "function", "n > 0");
    return 0;
}
