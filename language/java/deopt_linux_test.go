package java_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestDeoptimised loads a class that the compilers have not reckoned with. The frames of methods
// that were compiled without it are to be taken apart: they return to handlers until control comes
// back to them. jstack tells the same as before.
func TestDeoptimised(t *testing.T) {
	gdbtest.Later(t, "java")
	dir := compileJava(t, "Deopt.java")
	for name, flags := range map[string]string{
		"compiled by C1":          "-XX:TieredStopAtLevel=1",
		"compiled by C2":          "-XX:-TieredCompilation",
		"by C2, without inlining": "-XX:-TieredCompilation -XX:-Inline",
	} {
		t.Run(name, func(t *testing.T) {
			args := append(strings.Fields(flags), "-Xbatch", "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,Deopt*.*", "-cp", dir, "Deopt")
			p := gdbtest.StartRunning(t, gdbtest.Tool(t, "java"), args...)
			tid, before, pcs := deepThread(t, p.PID)
			fmt.Fprintln(p.Stdin)
			if line, err := p.Stdout.ReadString('\n'); line != "loaded\n" {
				t.Fatalf("%q, %v", line, err)
			}
			_, after, changed := deepThread(t, p.PID)
			if !slices.Equal(before, after) {
				t.Errorf("before and after the class was loaded:\n%s\n\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
			}
			n := 0
			for i, pc := range pcs[tid] {
				if i < len(changed[tid]) && changed[tid][i] != pc {
					n++
				}
			}
			if len(pcs[tid]) != len(changed[tid]) || n < 3 {
				t.Errorf("of %d frames %d return elsewhere: nothing is to be taken apart", len(pcs[tid]), n)
			}
		})
	}
}

// deepThread returns the frames of the thread that has called Deopt.deep, which must be jstack's,
// and the PCs of the physical frames of all threads.
func deepThread(t *testing.T, pid int) (tid int, list []string, pcs map[int][]uint64) {
	t.Helper()
	var got, want map[int][]string
	gdbtest.Await(t, "the thread is parked", func() bool {
		want = jstack(t, pid)
		for id, frames := range want {
			if slices.ContainsFunc(frames, func(f string) bool { return strings.HasPrefix(f, "Deopt.deep(") }) && strings.Contains(frames[0], ".park(") {
				tid = id
			}
		}
		return tid != 0
	})
	got, pcs = frames(t, pid)
	if !slices.Equal(got[tid], want[tid]) || len(want[tid]) < 60 {
		t.Fatalf("%s\njstack:\n%s", strings.Join(got[tid], "\n"), strings.Join(want[tid], "\n"))
	}
	return tid, got[tid], pcs
}
