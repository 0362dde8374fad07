#include <stdlib.h>
#include "inlines.h"

static __attribute__((noinline)) int apart(int n) {
	volatile int *p = malloc(sizeof *p);
	int v;
	*p = twice(n);
	v = *p;
	free((void *)p);
	return v;
}

/* It has no block of its own: dump_syms leaves out calls that are inlined in a lexical block. */
static inline __attribute__((always_inline)) int outer(int n) {
	return twice(n) * apart(n);
}

int main(int argc, char **argv) {
	(void)argv;
	return outer(argc) + once(argc);
}
