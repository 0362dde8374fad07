//go:build cgo

package main

/*
#include <pthread.h>
#include <unistd.h>

static void *wait_for_signals(void *unused) {
	for (;;)
		pause();
	return unused;
}

static int start_foreign(void) {
	pthread_t thread;
	return pthread_create(&thread, 0, wait_for_signals, 0);
}
*/
import "C"

func init() {
	startForeign = func() {
		if err := C.start_foreign(); err != 0 {
			panic(err)
		}
	}
}
