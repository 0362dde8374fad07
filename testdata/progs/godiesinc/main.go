// Command godiesinc is a Go program that dies in C, or in Go that C has called: what golang/go#57698,
// golang/go#25218 and go-delve/delve#3322 are about. Its argument says how:
//
//	c       a null pointer in C: outermost main.main, then C's test3, test2, test1
//	assert  a failed assertion there
//	go      a null pointer in Go, without C
//
// Build: go build -o DIR/godiesinc ./testdata/progs/godiesinc
package main

/*
#include <assert.h>
#include <stddef.h>

__attribute__((noinline)) static void test1(int how) {
	if (how == 'c')
		*(volatile int *)NULL = 1;
	assert(how != 'a');
	__asm__ volatile("");
}
__attribute__((noinline)) static void test2(int how) {
	test1(how);
	__asm__ volatile("");
}
__attribute__((noinline)) static void test3(int how) {
	test2(how);
	__asm__ volatile("");
}
*/
import "C"

import "os"

func main() {
	if os.Args[1] == "go" {
		var p *int
		*p = 1
	}
	C.test3(C.int(os.Args[1][0]))
}
