/* gohost N LIBRARY...: a program of C that has several libraries of Go. Each gets N goroutines more than the one
   before, which wait, and has two threads of its own. With -s, each library is in a name space of its own (dlmopen). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *blocks(void *f) {
	((void (*)(void))f)();
	return NULL;
}

int main(int argc, char **argv) {
	int apart = argc > 1 && strcmp(argv[1], "-s") == 0;
	int n = atoi(argv[1 + apart]);
	for (int i = 2 + apart, k = 1; i < argc; i++, k++) {
		void *lib = apart ? dlmopen(LM_ID_NEWLM, argv[i], RTLD_NOW) : dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		if (lib == NULL) {
			puts(dlerror());
			return 1;
		}
		((void (*)(int))dlsym(lib, "Begin"))(k * n);
		pthread_t t;
		pthread_create(&t, NULL, blocks, dlsym(lib, "Blocks"));
		pthread_create(&t, NULL, blocks, dlsym(lib, "Holds"));
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
