// Busy in a C library that has no tables.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) { return strcmp(a, b); }

int main(void) {
	static char text[400][16];
	for (unsigned n = 0;; n++) {
		for (unsigned i = 0; i < 400; i++) snprintf(text[i], sizeof text[i], "%u", (i + n) * 2654435761u);
		qsort(text, 400, sizeof text[0], compare);
	}
}
