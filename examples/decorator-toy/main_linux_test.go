package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target/core"
)

const program = "decorator-toy"

// TestMain makes the test binary the plug-in, if a host has started it under that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == program {
		main()
		return
	}
	os.Exit(m.Run())
}

// call is what gdb prints of a frame of run.
var call = regexp.MustCompile(`(?m)^call "(.*)" (\d+)$`)

// task is what gdb prints of the first call that has not begun.
var task = regexp.MustCompile(`(?m)^task "(.*)" (\d+)$`)

// TestCalls has gdb stop the interpreter in find, which looks for a function that is about to be
// called, and in poll, and write core files. The decorator's frames must be the ones whose records
// gdb finds in the frames of run, and stand there; its tasks the ones that gdb finds.
func TestCalls(t *testing.T) {
	gdbtest.NeedAMD64(t)
	source, err := filepath.Abs("target/toy.c")
	if err != nil {
		t.Fatal(err)
	}
	path := gdbtest.Compile(t, source, gdbtest.Tool(t, "cc"), "-O0", "-g", "-fno-inline")
	toy, err := filepath.Abs("target/queue.toy")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	args := []string{"-nx", "-batch", path, "-ex", "set confirm off", "-ex", "set print frame-info short-location", "-ex", "break find", "-ex", "run " + toy}
	calls := []int{0, 1, 1, 2, 3} // that have not returned, at each stop
	stops := len(calls)
	for i := range stops {
		if i == stops-1 {
			args = append(args, "-ex", "break poll", "-ex", "continue")
		}
		// The first frame of main has no record: its error is printed.
		args = append(args, "-ex", fmt.Sprintf(`printf "stop %d\n"`, i), "-ex", `frame apply all -q -s printf "call \"%s\" %d\n", r.function->name, r.line`,
			"-ex", `printf "task \"%s\" %d\n", toy_tasks->function->name, toy_tasks->function->line`, // an error if there is none
			"-ex", `printf "waits %d\n", toy_waits`, "-ex", "generate-core-file "+filepath.Join(folder, strconv.Itoa(i)))
		if i < stops-2 {
			args = append(args, "-ex", "continue")
		}
	}
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), append(args, "-ex", "kill")...).CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	parts := regexp.MustCompile(`(?m)^stop \d$`).Split(string(out), -1)
	if len(parts) != stops+1 {
		t.Fatalf("gdb has stopped %d times, want %d:\n%s", len(parts)-1, stops, out)
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(folder, program)
	if err := os.Symlink(self, plugin); err != nil {
		t.Fatal(err)
	}
	p, err := external.Start(context.Background(), external.Options{Path: plugin})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range stops {
		var want []string
		for _, m := range call.FindAllStringSubmatch(parts[i+1], -1) {
			want = append(want, m[1]+":"+m[2])
		}
		if len(want) != calls[i] {
			t.Fatalf("stop %d: gdb has %d calls, want %d:\n%s", i, len(want), calls[i], parts[i+1])
		}
		var wantTasks []string
		for _, m := range task.FindAllStringSubmatch(parts[i+1], -1) {
			wantTasks = append(wantTasks, m[1]+":"+m[2])
		}
		waits := strings.Contains(parts[i+1], "waits 1000\n")
		if waits != (i == stops-1) || len(wantTasks) != map[bool]int{true: 1}[i > 1] {
			t.Fatalf("stop %d: gdb has tasks %q, waits %v:\n%s", i, wantTasks, waits, parts[i+1])
		}
		tg, err := core.Open(filepath.Join(folder, strconv.Itoa(i)), core.Options{Exe: path})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		threads, err := tg.Threads()
		if err != nil {
			t.Fatal(err)
		}
		stack, err := frame.New(tg, threads[0], sniffer.Table(tg.Arch()))
		if err != nil {
			t.Fatal(err)
		}
		s := &language.Stack{Arch: tg.Arch(), Thread: threads[0], Memory: tg.Memory()}
		for f, err := range stack.All() {
			if err != nil {
				t.Fatal(err)
			}
			s.Frames = append(s.Frames, f)
		}
		runtimes, err := language.Find(&language.Process{Arch: tg.Arch(), Memory: tg.Memory(), Modules: tg.Modules()},
			[]language.Decorator{p.Decorator(external.Target{})})
		if err != nil || len(runtimes) != 1 {
			t.Fatalf("stop %d: run times %v, %v", i, runtimes, err)
		}
		var got []string
		d := language.Decorate(s, runtimes)
		if d != nil {
			if len(d.Warnings) > 0 {
				t.Errorf("stop %d: %q", i, d.Warnings)
			}
			if locks := d.Threads[0].Waits; waits != (len(locks) == 1 && locks[0].Timed) {
				t.Errorf("stop %d: it waits for %+v", i, locks)
			}
			for level := range s.Frames {
				if place := d.At[level]; place != nil {
					for _, f := range place.Frames {
						got = append(got, fmt.Sprintf("%s:%d", f.Function, f.Line))
						if f.File != toy {
							t.Errorf("stop %d: %s is in %s, want %s", i, f.Function, f.File, toy)
						}
					}
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("stop %d: the decorator has %q, gdb %q", i, got, want)
		}
		list, err := runtimes[0].Runtime.(language.Tasker).Tasks(tg.Memory())
		if err != nil {
			t.Errorf("stop %d: tasks: %v", i, err)
		}
		var tasks []string
		for _, x := range list {
			tasks = append(tasks, fmt.Sprintf("%s:%d", x.Name, x.Frames[0].Line))
		}
		if !slices.Equal(tasks, wantTasks) {
			t.Errorf("stop %d: the decorator has the tasks %q, gdb %q", i, tasks, wantTasks)
		}
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}
