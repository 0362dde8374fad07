package java_test

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/java"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// frames returns the frames of Java of all threads of a process, as jstack writes them, and the PCs
// of their physical frames, by the threads' IDs.
func frames(t *testing.T, pid int) (all map[int][]string, pcs map[int][]uint64) {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	return framesOf(t, tg)
}

func framesOf(t *testing.T, tg target.Target) (all map[int][]string, pcs map[int][]uint64) {
	t.Helper()
	all, pcs = map[int][]string{}, map[int][]uint64{}
	for id, th := range languagetest.All(t, tg, java.Decorator{}, nil) {
		for _, f := range th.Stack.Frames {
			pcs[id] = append(pcs[id], f.PC())
		}
		for _, w := range th.Warnings() {
			t.Error(w)
		}
		for _, f := range th.Frames() {
			all[id] = append(all[id], written(&f.Frame))
		}
	}
	return all, pcs
}

func written(f *language.Frame) string {
	at := "Unknown Source"
	switch {
	case f.Kind == "native":
		at = "Native Method"
	case f.File != "" && f.Line > 0:
		at = fmt.Sprintf("%s:%d", f.File, f.Line)
	case f.File != "":
		at = f.File
	}
	return f.Function + "(" + at + ")"
}

var (
	nid    = regexp.MustCompile(`nid=(0x[0-9a-f]+|\d+)`)
	at     = regexp.MustCompile(`(?m)^\tat (.*)$`)
	module = regexp.MustCompile(`\([a-z.]+@[^/]*/`)
	loader = regexp.MustCompile(`^[^(]*@[^/(]*/|^app//`)
)

// jstack returns the frames of all threads that jstack lists.
func jstack(t *testing.T, pid int) map[int][]string {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "jstack"), strconv.Itoa(pid)).Output()
	if err != nil {
		return nil // the virtual machine has not started yet
	}
	all := map[int][]string{}
	for _, text := range strings.Split(string(out), "\n\n") {
		id := nid.FindStringSubmatch(text)
		if id == nil {
			continue
		}
		tid, err := strconv.ParseInt(id[1], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range at.FindAllStringSubmatch(text, -1) {
			all[int(tid)] = append(all[int(tid)], loader.ReplaceAllString(module.ReplaceAllString(m[1], "("), ""))
		}
	}
	return all
}

// TestJstack compares the frames of all threads with jstack's, of which jstack tells the same
// before and after.
func TestJstack(t *testing.T) {
	gdbtest.Later(t, "java")
	src := gdbtest.Testdata(t, "..", "internal", "command", "stacks", "testdata", "programs", "Waits.java")
	javac, run := gdbtest.Tool(t, "javac"), gdbtest.Tool(t, "java")
	dir := t.TempDir()
	if out, err := exec.Command(javac, "-d", dir, src).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	for name, flags := range map[string]string{
		"compiled":       "",
		"compiled by C1": "-XX:TieredStopAtLevel=1",
		"compiled by C2": "-XX:-TieredCompilation",
		"interpreted":    "-Xint",
	} {
		t.Run(name, func(t *testing.T) {
			// Twelve threads, of which one spins.
			p := gdbtest.StartRunning(t, gdbtest.Tool(t, "sh"), "-c", "echo ready; exec "+run+" "+flags+" -cp "+dir+" Waits 12 >/dev/null 2>&1")
			var before, got, after map[int][]string
			gdbtest.Await(t, "all threads are where they end", func() bool {
				if before = jstack(t, p.PID); len(ends(before)) < 12 {
					return false
				}
				got, _ = frames(t, p.PID)
				after = jstack(t, p.PID)
				return len(ends(after)) == 12
			})
			compared := 0
			for tid, list := range after {
				ours, spins := got[tid], strings.HasPrefix(ends(after)[tid], "Waits.end(")
				if spins && len(ours) > 0 && strings.HasPrefix(ours[0], "Waits.end(") {
					// It goes on while jstack leads it to where it may be stopped.
					list, ours = list[1:], ours[1:]
				} else if !slices.Equal(before[tid], list) {
					continue
				}
				if compared++; !slices.Equal(ours, list) {
					t.Errorf("thread %d:\n%s\njstack:\n%s", tid, strings.Join(ours, "\n"), strings.Join(list, "\n"))
				}
			}
			if compared < 12 {
				t.Errorf("only %d threads were compared", compared)
			}
		})
	}
}

// ends returns the innermost frames of the threads that are where Waits has its threads end.
func ends(all map[int][]string) map[int]string {
	in := map[int]string{}
	for tid, list := range all {
		if strings.Contains(strings.Join(list, " "), "Waits.end(") && !strings.Contains(list[len(list)-1], "Waits.main(") {
			in[tid] = list[0]
		}
	}
	return in
}
