package stacks_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/core"
)

var emulators = map[string]string{"arm64": "qemu-aarch64", "s390x": "qemu-s390x"}

// emulate runs an emulated program that ends by itself. Emulators with many threads deadlock at
// times: if all threads have slept at a thousand looks in a row, emulate runs the program again.
func emulate(t *testing.T, qemu string, args ...string) (out, errOut string, err error) {
	t.Helper()
	for range 3 {
		cmd := exec.Command(qemu, args...)
		cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
		cmd.WaitDelay = time.Second
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err = cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		asleep := 0
		gdbtest.Await(t, "the emulator ends", func() bool {
			select {
			case err = <-done:
				return true
			default:
			}
			if asleep++; !sleeps(cmd.Process.Pid) {
				asleep = 0
			}
			return asleep == 1000
		})
		if asleep < 1000 {
			return stdout.String(), stderr.String(), err
		}
		t.Logf("%s %v does not end", qemu, args)
		cmd.Process.Kill()
		err = <-done
		out, errOut = stdout.String(), stderr.String()
	}
	return out, errOut, err
}

// sleeps reports whether all threads of a process sleep.
func sleeps(pid int) bool {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return len(tasks) > 0 && !slices.ContainsFunc(tasks, func(task string) bool {
		text, _ := os.ReadFile(task)
		return !bytes.Contains(text, []byte(") S "))
	})
}

// The command runs on hosts of the other architectures: emulated, it cannot trace processes, but it
// shows the bundled core file.
func TestDemoOnOtherHosts(t *testing.T) {
	for i, goarch := range slices.Sorted(maps.Keys(emulators)) {
		t.Run(goarch, func(t *testing.T) {
			gdbtest.Share(t, i)
			emulator := emulators[goarch]
			qemu := gdbtest.Tool(t, emulator)
			bin := filepath.Join(t.TempDir(), "sfwalk")
			build := exec.Command(gdbtest.Tool(t, "go"), "build", "-o", bin, "../../../cmd/sfwalk")
			build.Env = append(os.Environ(), "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out, errOut, err := emulate(t, qemu, bin, "demo")
			if err != nil || errOut != "" {
				t.Fatalf("%v\n%s", err, errOut)
			}
			// testdata/progs/guest/stacks.c: the scenario nested.
			want := []string{"stop_here", "on_fault", "<signal", "middle", "on_nested", "<signal", "run_nested", "main", "_start"}
			var got []string
			for _, m := range regexp.MustCompile(`(?m)^#\d+ +(?:0x[0-9a-f]+ in )?(<signal|\w+)`).FindAllStringSubmatch(out, -1) {
				got = append(got, m[1])
			}
			if !slices.Equal(got, want) || strings.Contains(out, "guess") {
				t.Errorf("functions %q, want %q\n%s", got, want, out)
			}

			// Core files of either byte order read the same as on this machine.
			for other := range emulators {
				args := []string{"core", "--exe", "../../../internal/demo/target/dead-" + other, "../../../internal/demo/target/dead-" + other + ".core.xz", "--registers", "--explain"}
				want, _, err := commandtest.Run(args...)
				if err != nil {
					t.Fatal(err)
				}
				got, _, err := emulate(t, qemu, append([]string{bin}, args...)...)
				if err != nil || got != want {
					t.Errorf("core of %s: %v\n%s\nwant\n%s", other, err, got, want)
				}
			}

			// Process 1 is of another machine: the command says so, and touches nothing.
			_, errOut, err = emulate(t, qemu, bin, "attach", "1")
			if err == nil || !strings.HasPrefix(errOut, "sfwalk: attach 1: ") {
				t.Errorf("attach: %v\n%s", err, errOut)
			}
		})
	}
}

// The demo targets of the other architectures run. Their cores, from when they were killed, have
// the stacks that demo.c says.
func TestDemoTargets(t *testing.T) {
	// From the innermost function of demo.c outward.
	want := [][]string{
		{"next_job", "serve", "main"},
		{"visit", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walker"},
		{"on_tick", "compute", "ticker"},
		{"without_frame_pointer", "with_frame_pointer", "framed"},
		{"take", "queue"},
		{"take", "queue"},
	}
	for goarch, emulator := range emulators {
		t.Run(goarch, func(t *testing.T) {
			root := map[string]string{"arm64": "/usr/aarch64-linux-gnu", "s390x": "/usr/s390x-linux-gnu"}[goarch]
			gdbtest.File(t, root+"/lib/libc.so.6")
			program, err := filepath.Abs("../../../internal/demo/target/demo-" + goarch)
			if err != nil {
				t.Fatal(err)
			}
			// The ticker is not always in its handler.
			var got [][]string
			for range 20 {
				got = demoStacks(t, gdbtest.Tool(t, emulator), root, program)
				if len(got) == len(want) && slices.ContainsFunc(got, func(g []string) bool { return slices.Equal(g, want[2]) }) {
					break
				}
			}
			for _, names := range want {
				i := slices.IndexFunc(got, func(g []string) bool { return slices.Equal(g, names) })
				if i < 0 {
					t.Errorf("no thread has %q: %q", names, got)
					continue
				}
				got = slices.Delete(got, i, i+1)
			}
		})
	}
}

// demoStacks runs a demo target under an emulator, kills it when all its threads rest, and returns
// the functions of demo.c on each thread's stack.
func demoStacks(t *testing.T, emulator, root, program string) (stacks [][]string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", `ulimit -c unlimited; ulimit -s 256; exec "$0" -L "$1" "$2"`, emulator, root, program)
	cmd.Dir = dir
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 6)
	if _, err := stdout.Read(line); err != nil || string(line) != "ready\n" {
		t.Errorf("%q, %v", line, err)
	}
	(&gdbtest.Process{PID: cmd.Process.Pid}).Rest(t) // the thread that prints "ready" must rest, too
	cmd.Process.Signal(syscall.SIGQUIT)              // at a SIGABRT from outside, newer versions of qemu die themselves
	cmd.Wait()
	files, _ := filepath.Glob(filepath.Join(dir, "qemu_*.core"))
	if len(files) != 1 {
		t.Fatalf("%d core files", len(files))
	}
	s, err := targets.Core(files[0], core.Options{Sysroot: root, Exe: program})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	doc, warnings, err := report.Collect(s, &report.Flags{})
	// From 8.1 on, qemu has a vDSO that it leaves out of its core files.
	warnings = slices.DeleteFunc(warnings, func(w string) bool {
		return w == "[vdso]: read ELF header: 0 bytes of it: memory cannot be read"
	})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, warnings %q", err, warnings)
	}
	for _, th := range doc.Threads {
		var names []string
		for _, f := range th.Frames {
			if filepath.Base(f.File) == "demo.c" && f.Function != "nap" {
				names = append(names, f.Function)
			}
		}
		stacks = append(stacks, names)
	}
	return stacks
}
