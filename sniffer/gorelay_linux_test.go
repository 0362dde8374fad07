package sniffer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A function of assembly returns to its caller's caller, and keeps that return address elsewhere
// than where the call has left it. The functions are as in the source.
func TestGoRelay(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, args := range [][]string{nil, {"returns"}} {
		relays(t, gdbtest.Build(t, "gorelay"), args, "main.inner main.relay main.outer main.main runtime.main runtime.goexit")
	}
}

// So does the function by which purego has C call Go, without cgo: libc's qsort calls the function
// that compares. C's own functions between may be several, by the release of libc.
func TestPurego(t *testing.T) {
	gdbtest.NeedSoak(t)
	program := buildModule(t, "github.com/ebitengine/purego v0.11.3", sorts)
	relays(t, program, nil, "runtime.cgocallback crosscall2 callbackasm1", "main.sorts main.main runtime.main runtime.goexit")
}

// buildModule builds a program of Go, without cgo, that needs a module of others.
func buildModule(t *testing.T, module, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module program\n\ngo 1.25\n\nrequire " + module + "\n", "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command(gdbtest.Tool(t, "go"), "build", "-mod=mod", "-o", "program", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOSUMDB=off")
	if out, err := build.CombinedOutput(); err != nil {
		gdbtest.Cannot(t, "build with "+module+": "+string(out))
	}
	return filepath.Join(dir, "program")
}

// relays checks that the stack of a program's first thread is whole, and has functions one behind
// the other.
func relays(t *testing.T, program string, args []string, want ...string) {
	t.Helper()
	p := gdbtest.Start(t, program, args...)
	names, _, whole := walkMain(t, p.PID, true)
	got := strings.ReplaceAll(strings.Join(names, " "), ".abi0", "")
	for _, part := range want {
		if !whole || !strings.Contains(got, part) {
			t.Errorf("%v: no %q in %q, whole %v", args, part, got, whole)
		}
	}
}

const sorts = `package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

func init() { runtime.LockOSThread() }

func compares(a, b *int32) int {
	fmt.Println("ready")
	os.Stdout.Sync()
	var ends [2]int
	syscall.Pipe(ends[:])
	var c [1]byte
	syscall.RawSyscall(syscall.SYS_READ, uintptr(ends[0]), uintptr(unsafe.Pointer(&c)), 1)
	return int(*a - *b)
}

//go:noinline
func sorts(qsort func(unsafe.Pointer, uintptr, uintptr, uintptr), list []int32, compare uintptr) {
	qsort(unsafe.Pointer(&list[0]), uintptr(len(list)), 4, compare)
}

func main() {
	libc, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		panic(err)
	}
	var qsort func(unsafe.Pointer, uintptr, uintptr, uintptr)
	purego.RegisterLibFunc(&qsort, libc, "qsort")
	sorts(qsort, []int32{5, 3, 9, 1}, purego.NewCallback(compares))
}
`
