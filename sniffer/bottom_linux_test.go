package sniffer_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// bothWays walks all stacks of a process with both walkers.
func bothWays(t *testing.T, pid int) {
	t.Helper()
	tg, threads := attach(t, pid)
	defer tg.Close()
	check := walktest.New(tg.Modules(), sniffer.Table(tg.Arch()))
	for _, th := range threads {
		if err := check.Check(tg, th); err != nil {
			t.Errorf("thread %d: %v", th.ID(), err)
		}
	}
}

// No function has called the function at which the program starts.
func TestStartWithoutTables(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "start.c", "-nostdlib", "-static"))
	if names, whole := settleAndWalk(t, p.PID); !slices.Equal(names, []string{"waits", "_start"}) || !whole {
		t.Errorf("%q, whole: %t", names, whole)
	}
	bothWays(t, p.PID)
}

// The stacks of coroutines end where they should. The program says which function has called the
// first one.
func TestBottoms(t *testing.T) {
	for _, b := range []struct {
		name  string
		flags []string
	}{
		{"plain", []string{"-g", "-O2"}},
		{"SFrame", gdbtest.Plain},
		{"frame pointer", []string{"-O1", "-fno-omit-frame-pointer", "-fcf-protection"}},
		{"static", []string{"-O2", "-static"}},
		{"stripped", []string{"-O2", "-static", "-s"}},
	} {
		program := gdbtest.Build(t, "bottom.c", b.flags...)
		for _, tt := range []struct {
			how   string
			want  []string
			whole bool
		}{
			{"ucontext", []string{"entry", "*"}, true}, // __start_context; a dynamic libc has no name for it
			{"link", []string{"entry", "*"}, true},
			{"finish", []string{"entry", "plants"}, true},
			{"zero", []string{"ends"}, true},
			{"born", []string{"unborn"}, true},
			{"edge", []string{"entry"}, true},
			{"jumps", []string{"waits_there", "jumps"}, true},
			{"top", []string{"waits_there", "jumps"}, true},
			{"smashed", []string{"entry"}, false},
			{"hook", []string{"entry", "*"}, false},
		} {
			t.Run(b.name+" "+tt.how, func(t *testing.T) {
				p := gdbtest.Start(t, program, tt.how)
				names, whole := settleAndWalk(t, p.PID)
				if whole != tt.whole {
					t.Errorf("%q, whole: %t", names, whole)
				}
				if b.name != "stripped" {
					// Names further out than tt.want are not checked.
					n := min(len(names), slices.Index(names, tt.want[0])+len(tt.want))
					for i, name := range names[n-len(tt.want) : n] {
						if want := tt.want[i]; name != want && want != "*" {
							t.Errorf("%q, want %q at the end", names, tt.want)
						}
					}
					if tt.whole && len(names) != n {
						t.Errorf("%q, want %q at the end", names, tt.want)
					}
				}
				bothWays(t, p.PID)
			})
		}
	}
}
