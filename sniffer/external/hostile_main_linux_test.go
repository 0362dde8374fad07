package external_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/plugincheck/cores"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest/jit"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// TestMain turns this program into a plug-in if it is started as one. Otherwise it runs
// the tests, and checks that they leave nothing behind: no process, no file, no
// goroutine.
func TestMain(m *testing.M) {
	plugintest.Main()
	hostMain()
	plugintest.Parallel()
	if plugintest.Fuzzing() { // its processes are killed when its time is over
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "sfw-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv("TMPDIR", dir)
	before := runtime.NumGoroutine()
	status := m.Run()
	if list := left(dir, before); len(list) > 0 && status == 0 {
		fmt.Fprintln(os.Stderr, "FAIL: the tests leave behind:", strings.Join(list, "\n"))
		status = 1
	}
	os.RemoveAll(dir)
	os.Exit(status)
}

// patience is a limit that no test reaches, on the slowest machine.
const patience = 5 * time.Minute

// left returns the processes, files and goroutines that the tests have left after a while.
func left(dir string, goroutines int) (list []string) {
	for range 600 {
		list = processes(dir)
		if entries, err := os.ReadDir(dir); err == nil {
			for _, e := range entries {
				list = append(list, filepath.Join(dir, e.Name()))
			}
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			stacks := make([]byte, 64<<10)
			list = append(list, fmt.Sprintf("%d goroutines, %d before:\n%s", n, goroutines, stacks[:runtime.Stack(stacks, true)]))
		}
		if len(list) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return list
}

// processes returns the processes with programs below a folder.
func processes(dir string) (list []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		if exe, err := os.Readlink(p + "/exe"); err == nil && strings.HasPrefix(exe, dir+"/") {
			list = append(list, p+" "+exe)
		}
	}
	return list
}

// noneLeft checks that no process of a plug-in exists any more.
func noneLeft(t *testing.T, path string) {
	t.Helper()
	gdbtest.Await(t, "no process of "+path+" is there any more", func() bool { return len(processes(filepath.Dir(path))) == 0 })
}

// step is the part of a frame that is compared.
type step struct{ pc, cfa uint64 }

// subject is a process to walk, with its stack without a plug-in.
type subject struct {
	*cores.Process
	jit   *jit.InProcess
	steps []step
}

// newSubject opens the process of an architecture. The default sniffers, and a sniffer in the
// test's own process for the machine code, walk its stack to the end.
func newSubject(t testing.TB, architecture string) *subject {
	t.Helper()
	p, err := cores.Open(architecture)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	s := &subject{Process: p}
	if s.jit, err = jit.NewInProcess(p); err != nil {
		t.Fatal(err)
	}
	var stop string
	if s.steps, stop = s.walk(t, s.table()); len(s.steps) != 14 || stop != "" {
		t.Fatalf("%s: %d frames, %s: want 7 of down, 6 of machine code in turns, then _start", architecture, len(s.steps), stop)
	}
	// By the program's source, the functions alternate with the depth of the stack.
	for i, f := range s.steps[:13] {
		if in := s.jit.Functions[(i+1)/2%3]; i%2 == 1 && (f.pc <= in.Lo || f.pc >= in.Hi) {
			t.Fatalf("%s: frame %d is at %#x, not in [%#x, %#x)", architecture, i, f.pc, in.Lo, in.Hi)
		}
	}
	return s
}

// table returns a table that walks the subject to its end, without plug-ins.
func (s *subject) table() *frame.Table {
	table := sniffer.Table(s.Arch())
	table.Prepend(s.jit)
	return table
}

// walk walks the stack with a table. It returns the stack, and why it is not whole.
func (s *subject) walk(t testing.TB, table *frame.Table) (steps []step, stop string) {
	t.Helper()
	threads, err := s.Threads()
	if err != nil {
		t.Fatal(err)
	}
	stack, err := frame.New(s, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range stack.All() {
		if err != nil {
			return steps, err.Error()
		}
		cfa, _ := f.CFA()
		steps = append(steps, step{f.PC(), cfa})
		if len(steps) > 100_000 {
			t.Fatal("the stack does not end")
		}
	}
	return steps, ""
}

// with returns the subject's table with a plug-in before all other sniffers.
func (s *subject) with(p *external.Plugin) (*frame.Table, *external.Sniffer) {
	table := s.table()
	x := p.Sniffer(external.Target{PID: s.PID})
	table.Prepend(x)
	return table, x
}

// start starts a plug-in for tests.
func start(t testing.TB, mode string, o external.Options) (*external.Plugin, error) {
	t.Helper()
	o.Path = plugintest.Path(t, mode)
	o.StartTimeout, o.Deadline = cmp.Or(o.StartTimeout, patience), cmp.Or(o.Deadline, patience)
	p, err := external.Start(context.Background(), o)
	if err == nil {
		t.Cleanup(func() { p.Close() })
	}
	return p, err
}

// printable checks that text does nothing to a terminal.
func printable(t *testing.T, what, text string) {
	t.Helper()
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("%s: a terminal would obey %q, at %d", what, text, i)
	}
	if len(text) > 10_000 {
		t.Errorf("%s: %d bytes", what, len(text))
	}
}

// says checks that an error is the right one, has the words, and names the plug-in's path.
func says(t *testing.T, err error, path string, words ...string) {
	t.Helper()
	text := err.Error()
	printable(t, "error", text)
	for _, w := range append(words, path) {
		if !strings.Contains(text, w) {
			t.Errorf("the error does not say %q:\n%s", w, text)
		}
	}
}

// same fails the test if two stacks differ, and shows them.
func same(t *testing.T, got, want []step, stop string) {
	t.Helper()
	if !slices.Equal(got, want) || stop != "" {
		var b bytes.Buffer
		for i := range max(len(got), len(want)) {
			fmt.Fprintf(&b, "%d: %x %x\n", i, got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
		}
		t.Errorf("the stack is not the one without the plug-in (%s):\n%s", stop, &b)
	}
}
