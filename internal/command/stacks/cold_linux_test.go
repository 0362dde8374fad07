package stacks_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestColdParts stops in parts of functions that the compiler has put elsewhere, in a program
// without tables: in a call, and at a trap. The calls must have the order of the source, cold.c.
func TestColdParts(t *testing.T) {
	for _, flag := range []string{"-fomit-frame-pointer", "-fno-omit-frame-pointer"} {
		program := gdbtest.Build(t, "cold.c", "-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", flag)
		for i, name := range []string{"part_back", "part_large", "part_dynamic", "part_ends"} {
			for _, args := range [][]string{{fmt.Sprint(i)}, {fmt.Sprint(i), "trap"}} {
				t.Run(fmt.Sprintf("%s %s %d", flag, name, len(args)), func(t *testing.T) {
					p := gdbtest.Start(t, program, args...)
					th := commandtest.Take(t, p.PID, &report.Flags{}).Threads[0]
					var names []string
					for _, f := range th.Frames {
						if f.Type == "sigtramp" {
							f.Function = "signal" // its code may have a name, and may have none
						}
						names = append(names, f.Function)
						if f.Guess {
							t.Errorf("%s is a guess, by %s", f.Function, f.Sniffer)
						}
					}
					want := []string{"block", "stays", "fails", name + ".cold", "enters", "main"}
					if len(args) == 2 {
						want[2] = "signal"
					}
					at := slices.Index(names, want[0])
					if at < 0 || len(names) < at+len(want) || !th.Whole {
						t.Fatalf("stack %q, %s %s", names, th.Stop, th.Error)
					}
					if got := names[at : at+len(want)]; !slices.Equal(got, want) {
						t.Errorf("stack %q, want %q", got, want)
					}
				})
			}
		}
	}
}
