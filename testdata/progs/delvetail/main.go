// Command delvetail waits in C functions, two of which have left by a tail call:
//
//	main.inC > cgo > c_calls > [c_first > c_second, jumped on] > c_last > pause
package main

/*
#include <sys/prctl.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long sink;

static NOINLINE long c_last(long n) {
	prctl(PR_SET_PTRACER, -1L, 0, 0, 0);
	alarm(120);
	sink = write(1, "ready\n", 6);
	pause();
	return n + sink;
}

static NOINLINE long c_second(long n) {
	sink = 2;
	return c_last(n + 2);
}

static NOINLINE long c_first(long n) {
	sink = 1;
	return c_second(n + 1);
}

static NOINLINE long c_calls(long n) {
	long r = c_first(n);
	__asm__ volatile("" : "+r"(r));
	return r;
}
*/
import "C"

import "runtime"

func init() { runtime.LockOSThread() }

//go:noinline
func inC(n int) int { return int(C.c_calls(C.long(n))) + 1 }

func main() { println(inC(1)) }
