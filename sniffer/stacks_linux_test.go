package sniffer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The program itself says which functions have called one another. gdb does not, because it ends
// where a table leads to a stack that lies further in.
func TestChangedStacks(t *testing.T) {
	for _, b := range []struct {
		name    string
		program string
	}{
		{"CFI", gdbtest.Build(t, "stacks.c", "-g", "-O2")},
		{"SFrame", gdbtest.Build(t, "stacks.c", gdbtest.Plain...)},
		{"SFrame that leaves out where SP is saved", gdbtest.Testdata(t, "bin", "stacks-v2")},
		{"frame pointer", gdbtest.Build(t, "stacks.c", "-O2", "-fno-omit-frame-pointer", "-fcf-protection")},
	} {
		for _, changes := range []string{"0", ".0", "01", ".01", "10", ".10", "0123456789", ".9876543210", "m", ".m0m", "a", ".aaaa", "95m3", ".a9m80m1"} {
			t.Run(b.name+" "+changes, func(t *testing.T) {
				p := gdbtest.Start(t, b.program, changes)
				var want []string
				for i := range len(strings.TrimPrefix(changes, ".")) {
					how := "on_stack"
					if (i%2 == 1) != strings.HasPrefix(changes, ".") {
						how = "after_stack"
					}
					want = slices.Concat([]string{how, "runs"}, want)
				}
				want = append(want, "main")
				stacks, _ := settled(t, p.PID)
				names := stacks[0]
				from, to := slices.Index(names, "block")+1, slices.Index(names, "main")+1
				if from >= to || !slices.Equal(names[from:to], want) {
					t.Errorf("%q, want %q", names, want)
				}
			})
		}
	}
}
