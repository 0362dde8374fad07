//go:build linux && system

package systemtest

import (
	"path/filepath"
	"slices"
	"testing"
)

// goes looks at Go programs. Their source tells the stacks: gdb does not follow a thread from its
// own stack to a goroutine's.
func (g *Guest) goes(t *testing.T) {
	for _, c := range []struct {
		name, pkg, function string
		most                int  // at most so many threads are in that function
		sframe              bool // SFrame can say what Go's frames are
	}{
		{"gotarget", "./testdata/progs/gotarget", "main.lockedInner", 1, g.GOARCH != "s390x"}, // SP is not where s390x's SFrame has it
		{"goclock", "./internal/test/systemtest/testdata/goclock", "main.asks", 2, g.GOARCH != "s390x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &subject{name: c.name, path: filepath.Join(g.Temp, c.name)}
			g.build(t, s.path, c.pkg, "build")
			g.start(t, s)
			inVDSO, found := 0, 0
			// On a slow machine, a goroutine may wait for its turn: then fewer threads are in the
			// function.
			whole := func(d *document) (in int) {
				t.Helper()
				for _, th := range d.Threads {
					if slices.ContainsFunc(th.Frames, func(f frame) bool { return f.Function == c.function }) {
						in++
					}
					if slices.ContainsFunc(th.Frames, func(f frame) bool { return f.Module == "[vdso]" }) {
						inVDSO++
					}
					if th.Stop != "outermost" || slices.ContainsFunc(th.Frames, func(f frame) bool { return f.MovedOn }) {
						t.Errorf("thread %d: %s %s\n%s", th.TID, th.Stop, th.Error, lines(th.Frames))
					}
				}
				if found += in; in > c.most {
					t.Errorf("%d threads are in %s", in, c.function)
				}
				return in
			}
			for range 5 {
				g.stop(t, s)
				d := parse(t, g.sfwalk(t, "attach", "--json", s.pid))
				in := whole(d)
				same(t, d, parse(t, g.sfwalk(t, "attach", "--consistent", "--json", s.pid)))
				if c.sframe {
					for _, format := range []string{"2", "3"} {
						same(t, d, g.sframe(t, s, format, in))
					}
				}
				g.Shell(t, patience, "kill -CONT "+s.pid)
			}
			t.Logf("%d threads were in %s, %d in the vDSO", found, c.function, inVDSO)
			if found == 0 {
				t.Errorf("no thread was in %s", c.function)
			}
			if c.name == "goclock" && inVDSO == 0 {
				t.Error("no thread was in the vDSO")
			}
		})
	}
}

// same compares the stacks of a process that stands still with the stacks from before.
func same(t *testing.T, before, after *document) {
	t.Helper()
	was, is := before.physical(), after.physical()
	for tid, list := range was {
		if !slices.EqualFunc(list, is[tid], func(a, b frame) bool { return a.PC == b.PC && a.CFA == b.CFA && a.Type == b.Type }) {
			t.Errorf("thread %d:\n%s\nbefore:\n%s", tid, lines(is[tid]), lines(list))
		}
	}
	if len(was) != len(is) {
		t.Errorf("%d threads, before %d", len(is), len(was))
	}
}
