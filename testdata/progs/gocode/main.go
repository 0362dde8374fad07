// Command gocode is a Go program that calls code which it has made, without cgo, as compilers of
// WebAssembly do. The code keeps Go's stack pointer in memory, in its context, and has a stack of
// its own. By its own convention, functions preserve RDX, where the context is. A function may also
// give up: it leaves all functions of the code at once, for Go.
//
// "leaf" has the code call a function that leaves RDX as it is. With "near", the code's stack is a
// part of the goroutine's own, inward of the frames of Go; else it is elsewhere. With "rbx", the
// context is in RBX instead, which functions of C preserve, too. With "returns", the code gives up.
//
// From the outermost frame inwards: main.main main.calls, in the code enter outer inner, or enter
// leaf.
//
// Build: go build -o DIR/gocode ./testdata/progs/gocode
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"
)

// enter jumps to code, which calls a function of code.
func enter(code, function, context, stack uintptr)

// context is what the code finds by RDX.
type context struct {
	fd, buffer     uint64
	fp, sp         uint64 // of Go
	left           uint64 // SP where the code gave up
	bottom, growth uint64 // never reached, never called
}

// code is the machine code; each function begins at a multiple of 16 bytes.
var code = []byte{
	// enter:
	0x48, 0x89, 0xc2, //       mov    %rax,%rdx
	0x48, 0x89, 0x68, 0x10, // mov    %rbp,16(%rax)
	0x48, 0x89, 0x60, 0x18, // mov    %rsp,24(%rax)
	0x4c, 0x89, 0xec, //       mov    %r13,%rsp
	0x31, 0xed, //             xor    %ebp,%ebp
	0x41, 0xff, 0xd6, //       call   *%r14
	0x48, 0x8b, 0x6a, 0x10, // mov    16(%rdx),%rbp
	0x48, 0x8b, 0x62, 0x18, // mov    24(%rdx),%rsp
	0xc3, //                   ret
	0xcc, 0xcc, 0xcc, 0xcc,
	// outer:
	0x55,             //       push   %rbp
	0x48, 0x89, 0xe5, //       mov    %rsp,%rbp
	0x48, 0x3b, 0x60, 0x28, // cmp    40(%rax),%rsp
	0x77, 0x03, //             ja     1f
	0xff, 0x50, 0x30, //       call   *48(%rax)
	0xe8, 0x0e, 0, 0, 0, // 1: call   inner
	0x48, 0x89, 0xec, //       mov    %rbp,%rsp
	0x5d, //                   pop    %rbp
	0xc3, //                   ret
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
	// inner:
	0x55,             //       push   %rbp
	0x48, 0x89, 0xe5, //       mov    %rsp,%rbp
	0x52,             //       push   %rdx
	0x49, 0x89, 0xc0, //       mov    %rax,%r8
	0x41, 0x8b, 0x38, // 1:    mov    (%r8),%edi
	0x49, 0x8d, 0x70, 0x08, // lea    8(%r8),%rsi
	0xba, 1, 0, 0, 0, //       mov    $1,%edx
	0x31, 0xc0, //             xor    %eax,%eax
	0x0f, 0x05, //             syscall
	0x83, 0xf8, 0x01, //       cmp    $1,%eax
	0x75, 0xeb, //             jne    1b
	0x49, 0x89, 0x60, 0x20, // mov    %rsp,32(%r8)
	0x49, 0x8b, 0x68, 0x10, // mov    16(%r8),%rbp
	0x49, 0x8b, 0x60, 0x18, // mov    24(%r8),%rsp
	0xc3, //                   ret
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
	// leaf:
	0x55,             //       push   %rbp
	0x48, 0x89, 0xe5, //       mov    %rsp,%rbp
	0xb8, 34, 0, 0, 0, // 1:   mov    $34,%eax
	0x0f, 0x05, //             syscall
	0x85, 0xc0, //             test   %eax,%eax
	0x75, 0xf5, //             jne    1b
	0x5d, //                   pop    %rbp
	0xc3, //                   ret
}

const outer, leaf = 0x20, 0x70

func init() {
	runtime.LockOSThread()
	debug.SetGCPercent(-1) // the runtime itself cannot walk over the code
}

//go:noinline
func deep(n int) int {
	var a [256]int
	if n > 0 {
		a[n%256] = deep(n - 1)
	}
	return a[0] + n
}

//go:noinline
func calls(start, function, stack uintptr, c *context) {
	enter(start, start+function, uintptr(unsafe.Pointer(c)), stack)
}

func mapped(size, protection int) []byte {
	m, err := syscall.Mmap(-1, 0, size, protection, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	return m
}

func main() {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		panic(err)
	}
	function := uintptr(outer)
	near := false
	for _, arg := range os.Args[1:] {
		switch arg {
		case "leaf":
			function = leaf
		case "near":
			near = true
		case "rbx":
			code[2], code[0x15], code[0x19] = 0xc3, 0x6b, 0x63
		case "returns":
			syscall.Write(ends[1], []byte{0})
		}
	}
	const size = 1 << 16
	text := mapped(size, syscall.PROT_READ|syscall.PROT_WRITE)
	copy(text, code)
	if err := syscall.Mprotect(text, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		panic(err)
	}
	deep(100) // now the goroutine's stack is large
	stack := uintptr(unsafe.Pointer(&mapped(size, syscall.PROT_READ|syscall.PROT_WRITE)[size-64]))
	if near {
		var here byte
		stack = (uintptr(unsafe.Pointer(&here)) - 4096) &^ 15
	}
	c := &context{fd: uint64(ends[0])}
	fmt.Println("ready")
	calls(uintptr(unsafe.Pointer(&text[0])), function, stack, c)
	fmt.Fprintln(os.Stderr, "returned")
}
