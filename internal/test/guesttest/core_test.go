//go:build linux

package guesttest

import (
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestGDBCores does the same as TestCores with the core files that gdb writes over the stub. They
// have the stack up to main's frame.
func TestGDBCores(t *testing.T) {
	for _, s := range []subject{
		{"arm64", committed(ARM64, "stacks-arm64-v3"), nil, true},
		{"s390x", committed(S390X, "stacks-s390x-v3"), nil, true},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.orders = []order{{nil, toMain}, {[]string{"sigtramp", "dwarf"}, toMain}, {[]string{"sigtramp", "sframe"}, toMain}}
			s.run(t, func(c *checker) {
				c.Each(t, true, func(stop *Stop) {
					if stop.Core != "" {
						c.check(stop, fromCore)
					}
				})
			})
		})
	}
}

// TestCrash lets guests die of a fault of their own, without a debugger. gdb reads qemu's core
// file.
func TestCrash(t *testing.T) {
	for _, s := range []subject{
		{"arm64", built(ARM64, "stacks.c", "-O2", "-static", "-DCRASH"), tables, false},
		{"arm", built(ARM, "stacks.c", "-g", "-O2", "-static", "-DCRASH"), []order{{nil, toMain}}, false},
		{"i386", built(I386, "stacks.c", "-O2", "-static", "-DCRASH"), tables, false},
		{"s390x", built(S390X, "stacks.c", "-O2", "-static", "-DCRASH"), tables, false},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.run(t, func(c *checker) {
				r := c.start(t, true)
				select {
				case <-r.exited:
				case <-time.After(time.Until(gdbtest.Deadline(t))):
					t.Fatal("the guest does not die")
				}
				stop := &Stop{Scenario: "crash", Core: r.core(t)}
				stop.Threads = c.readCore(t, stop.Core)
				names := ""
				for _, f := range stop.Threads[0].Frames {
					names += f.Function + " "
				}
				if want := "never_returns ends_in_call main "; len(names) < len(want) || names[:len(want)] != want {
					t.Errorf("gdb's functions are %q, want %q first", names, want)
				}
				c.check(stop, fromCore)
			})
		})
	}
}

// readCore returns the stacks that gdb-multiarch reads from a core file of the guest.
func (g *Guest) readCore(t *testing.T, core string) []gdbtest.Thread {
	t.Helper()
	script := gdbtest.StartScript(t, "gdb-multiarch", stopsPy, g.params(t, ""), "-iex", "set osabi GNU/Linux", g.Path, core)
	stop := next(t, script)
	if stop == nil || next(t, script) != nil {
		t.Fatal("gdb's script for cores has no record or several")
	}
	return stop.Threads
}
