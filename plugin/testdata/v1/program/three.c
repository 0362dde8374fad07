// What the frozen plug-in answers about. With -O0 -fno-omit-frame-pointer its functions begin
// with push, mov and end with leave, ret.
#include <stdio.h>
#include <unistd.h>

void leaf(void) {
	char c;
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
}

void middle(void) { leaf(); }

void outer(void) { middle(); }

int main(void) {
	outer();
	return 0;
}
