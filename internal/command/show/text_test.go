package show

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/report"
)

// --registers writes some twenty registers of each of a million frames. Making a value's text
// allocates at most once, and writing it allocates nothing.
func TestRegistersAllocate(t *testing.T) {
	value := frame.Value{Bits: 0x7ffd2e8d62f8, Lval: frame.InMemory}
	text := ""
	if n := testing.AllocsPerRun(100, func() { text = value.String() }); n > 1 {
		t.Errorf("%v allocations for a value", n)
	}
	var regs []report.Register
	for range 25 {
		regs = append(regs, report.Register{Name: "fs_base", Value: text})
	}
	p := &textPrinter{}
	if n := testing.AllocsPerRun(100, func() { p.Buf = p.Buf[:0]; p.registers(regs) }); n > 0 {
		t.Errorf("%v allocations for %d registers", n, len(regs))
	}
	const want = "      fs_base 0x7ffd2e8d62f8      fs_base 0x7ffd2e8d62f8      fs_base 0x7ffd2e8d62f8\n"
	if line, _, _ := strings.Cut(string(p.Buf), "\n"); line+"\n" != want {
		t.Errorf("%q, want %q", line, want)
	}
}

// A handler that crashes at other places each time makes no long line. The innermost and the
// outermost are there.
func TestManyHandlers(t *testing.T) {
	var list []*report.Signal
	for _, name := range strings.Fields("SIGFPE SIGFPE SIGBUS SIGILL SIGSEGV SIGSYS SIGUSR1") {
		list = append(list, &report.Signal{Name: name})
	}
	for n, want := range map[int]string{
		0: "",
		3: ", raised in the handler of SIGFPE (2 times), in the handler of SIGBUS",
		6: ", raised in the handler of SIGFPE (2 times), in the handler of SIGBUS, in the handler of SIGILL, in the handler of SIGSEGV, in the handler of SIGSYS",
		7: ", raised in the handler of SIGFPE (2 times), in the handler of SIGBUS, in the handler of SIGILL, in 2 other handlers, in the handler of SIGUSR1",
	} {
		if got := inHandlers(list[:n], true); got != want {
			t.Errorf("%d handlers: %q, want %q", n, got, want)
		}
	}
}
