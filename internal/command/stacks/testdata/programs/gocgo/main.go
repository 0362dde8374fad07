// Go that calls C that calls Go, all the time, beside garbage collection.
package main

/*
#include <stdlib.h>
extern int compare(void *a, void *b);
static int order(const void *a, const void *b) { return compare((void *)a, (void *)b); }
static void sort(int *p, int n) { qsort(p, n, sizeof *p, order); }
*/
import "C"

import (
	"fmt"
	"slices"
	"time"
	"unsafe"
)

//export compare
func compare(a, b unsafe.Pointer) C.int { return *(*C.int)(a) - *(*C.int)(b) }

func deep(n int) int {
	if n > 0 {
		return deep(n-1) + 1
	}
	p := make([]C.int, 300)
	for i := range p {
		p[i] = C.int(i * 7919 % 300)
	}
	C.sort(&p[0], C.int(len(p)))
	return int(p[0])
}

func work() {
	for {
		deep(5)
		s := make([]string, 100)
		for i := range s {
			s[i] = fmt.Sprint(i * 31 % 100)
		}
		slices.Sort(s)
	}
}

func main() {
	go work()
	go func() {
		for {
			time.Sleep(time.Millisecond)
			_ = make([]byte, 1<<20)
		}
	}()
	work()
}
