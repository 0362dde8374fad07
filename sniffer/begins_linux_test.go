package sniffer_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// Before a program begins, and while its libraries begin, stacks end at the entry point of the
// dynamic linker. That code has no tables, and no symbols if it is stripped.
func TestBeforeTheProgram(t *testing.T) {
	library := gdbtest.Build(t, "begins.c", "-O2", "-shared", "-fPIC")
	for _, by := range []string{"LD_PRELOAD", "LD_AUDIT"} {
		t.Run(by, func(t *testing.T) {
			p := gdbtest.Start(t, gdbtest.Tool(t, "env"), by+"="+library, gdbtest.Tool(t, "sleep"), "100")
			tg, threads := attach(t, p.PID)
			defer tg.Close()
			table := sniffer.Table(tg.Arch())
			if err := walktest.New(tg.Modules(), table).Check(tg, threads[0]); err != nil {
				t.Error(err)
			}
			stack, err := frame.New(tg, threads[0], table)
			if err != nil {
				t.Fatal(err)
			}
			// gdb has no list of what is loaded while the dynamic linker makes it.
			gdb, inGDB := []gdbtest.Frame{}, by == "LD_PRELOAD"
			for _, f := range gdbtest.Backtrace(t, p.PID)[0].Frames {
				if f.Physical() {
					gdb = append(gdb, f)
				}
			}
			var last *frame.Frame
			for f, err := range stack.All() {
				if err != nil {
					t.Fatalf("after %v: %v", last, err)
				}
				if inGDB && (f.Level >= len(gdb) || f.PC() != gdb[f.Level].PC) {
					t.Fatalf("%v is none of gdb's frames", f)
				}
				last = f
			}
			m := last.Module()
			if m == nil || !strings.HasPrefix(filepath.Base(m.Path), "ld") {
				t.Fatalf("the stack ends with %v", last)
			}
			im, bias, err := m.Image()
			if at := last.PC() - bias - im.Entry; err != nil || at > 128 { // glibc with shadow stacks sets one up before
				t.Errorf("the stack ends %d bytes behind the entry point: %v", at, err)
			}
		})
	}
}
