package sniffer_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/trad"
)

// Go calls code that it has made, which keeps Go's stack pointer in memory. The code's functions,
// and Go's functions, are as the program's source has them. Where the stacks are must not matter:
// the code has a way to leave all its functions at once, which is no return. The frame that leads
// to Go is a guess.
func TestGoCode(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Build(t, "gocode")
	const outer = "main.calls main.main runtime.main runtime.goexit"
	for _, c := range []struct{ args, want string }{
		{"", "? ? ? " + outer},
		{"near", "? ? ? " + outer},
		{"rbx", "? ? ? " + outer},
		{"leaf", "? ? " + outer},
		{"leaf near", "? ? " + outer},
	} {
		t.Run(c.args, func(t *testing.T) {
			p := gdbtest.Start(t, program, strings.Fields(c.args)...)
			if names, guess := codeStack(t, p.PID); strings.Join(names, " ") != c.want || !guess {
				t.Errorf("%q, want %q; the frame that leads to Go is a guess: %v", names, c.want, guess)
			}
		})
	}
	for _, args := range [][]string{{"returns"}, {"returns", "near"}} {
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil || string(out) != "ready\nreturned\n" {
			t.Errorf("%q: %q, %v", args, out, err)
		}
	}
}

// codeStack returns the names on the stack of a process's first thread, which both walkers must
// agree on, and whether the outermost frame without a name is a guess.
func codeStack(t *testing.T, pid int) (names []string, guess bool) {
	t.Helper()
	tg, threads := attach(t, pid)
	defer tg.Close()
	table := sniffer.Table(tg.Arch())
	if err := walktest.New(tg.Modules(), table).Check(tg, threads[0]); err != nil {
		t.Error(err)
	}
	stack, err := frame.New(tg, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range stack.All() {
		if err != nil {
			t.Error(err)
			break
		}
		name := functionOf(f)
		if name == "?" {
			guess = f.Row().Flags&trad.Guess != 0
		}
		names = append(names, strings.TrimSuffix(name, ".abi0"))
	}
	return names, guess
}

// wazero compiles WebAssembly, and its code is of that shape. The thread runs in it all the time,
// in the innermost of three functions of the module, which an entry of wazero's has called.
func TestWazero(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.NeedAMD64(t)
	program := buildModule(t, "github.com/tetratelabs/wazero v1.12.0", wasm)
	want := regexp.MustCompile(`^(\? ){4}.*entrypoint .*callWithStack .*Call main\.calls main\.main runtime\.main runtime\.goexit$`)
	for _, args := range [][]string{nil, {"deep"}} {
		p := gdbtest.StartRunning(t, program, args...)
		p.Runs(t, 100*time.Millisecond)
		for range 20 {
			names, _, whole := walkMain(t, p.PID, true)
			if got := strings.TrimSuffix(strings.Join(names, " "), ".abi0"); !whole || !want.MatchString(got) {
				t.Errorf("%q: %q, whole %v", args, got, whole)
			}
		}
	}
}

const wasm = `package main

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

func init() { runtime.LockOSThread() }

// module has three functions: the first counts a word of memory up for ever, each other one calls the one
// before.
var module = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x04\x01\x60\x00\x00" +
	"\x03\x04\x03\x00\x00\x00" +
	"\x05\x03\x01\x00\x01" +
	"\x07\x07\x01\x03run\x00\x02" +
	"\x0a\x20\x03" +
	"\x14\x00\x03\x40\x41\x00\x41\x00\x28\x02\x00\x41\x01\x6a\x36\x02\x00\x0c\x00\x0b\x0b" +
	"\x04\x00\x10\x00\x0b" +
	"\x04\x00\x10\x01\x0b")

//go:noinline
func calls(ctx context.Context, f api.Function) {
	f.Call(ctx)
}

//go:noinline
func deep(n int, then func()) int {
	var a [256]int
	if n == 0 {
		then()
		return 1
	}
	a[n%256] = deep(n-1, then)
	return a[0]
}

func main() {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
	m, err := r.Instantiate(ctx, module)
	if err != nil {
		panic(err)
	}
	f := m.ExportedFunction("run")
	fmt.Println("ready")
	os.Stdout.Sync()
	if len(os.Args) > 1 {
		deep(100, func() {}) // so that the stack is a large and new one
	}
	calls(ctx, f)
}
`
