package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/trad"
)

// compiler builds testdata/jit.c.
func compiler(t *testing.T, cc string, flags ...string) string {
	t.Helper()
	return gdbtest.Compile(t, filepath.Join(source, "testdata", "jit.c"), append([]string{gdbtest.Tool(t, cc), "-g", "-O2", "-Wall", "-Werror"}, flags...)...)
}

// checkCompiled checks a stack of testdata/jit.c. told is the line of CFAs that the program has
// printed; sizes are the sizes of the frames of inner, middle and outer.
func checkCompiled(t *testing.T, list []function, stop frame.StopReason, told string, sizes [3]uint64) {
	t.Helper()
	var restCFA, runCFA uint64
	if _, err := fmt.Sscanf(told, "0x%x 0x%x", &restCFA, &runCFA); err != nil {
		t.Fatalf("it tells %q: %v", told, err)
	}
	i := slices.IndexFunc(list, func(f function) bool { return f.name == "rest" })
	if i < 0 || len(list) < i+7 || stop != frame.Outermost {
		t.Fatalf("%v, it ends: %v", list, stop)
	}
	list = list[i:]
	cfa := restCFA
	for i, want := range []string{"rest", "inner", "middle", "outer", "run", "main"} {
		f := list[i]
		compiled := i >= 1 && i <= 3
		if compiled {
			cfa += sizes[i-1]
		} else if want == "run" {
			cfa = runCFA
		}
		name := f.name
		if compiled {
			name = f.symbol.Function
		}
		if name != want || want != "main" && f.cfa != cfa || compiled != (f.by == "perfmap") || compiled == f.inFile {
			t.Errorf("frame %d is %v; want %s with CFA %#x", i, f, want, cfa)
		}
		if f.frame.Row().Flags&trad.Guess != 0 {
			t.Errorf("%v is by a guess", f)
		}
	}
}

// Code with frame records and without, in a perf map and in a jitdump.
func TestCompiled(t *testing.T) {
	gdbtest.NeedAMD64(t)
	path := compiler(t, "cc")
	for _, format := range []string{"map", "dump"} {
		t.Run(format, func(t *testing.T) {
			folder := t.TempDir()
			if format == "map" {
				folder = "/tmp"
			}
			p := gdbtest.Start(t, path, format, folder)
			t.Cleanup(func() { os.Remove(fmt.Sprintf("/tmp/perf-%d.map", p.PID)) })
			told, err := p.Stdout.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			without, _ := walk(t, p.PID, nil)
			if slices.ContainsFunc(without, func(f function) bool { return f.symbol.Function == "inner" }) {
				t.Errorf("without the plug-in the code has names: %v", without)
			}
			list, stop := walk(t, p.PID, start(t, nil))
			checkCompiled(t, list, stop, told, [3]uint64{32, 32, 32})
			i := slices.IndexFunc(list, func(f function) bool { return f.symbol.Function == "inner" })
			if s := list[i].symbol; format == "dump" && (s.File != "/src/inner.x" || s.Line != 12) || format == "map" && s.File != "" {
				t.Errorf("inner is at %q:%d", s.File, s.Line)
			}
			// inner has saved rest's caller's rbx. The rbx of outer's caller is unknown.
			if v := list[i].frame.Register(3); !v.Known() || v.Bits != 0 {
				t.Errorf("inner's rbx is %v", v)
			}
			if v := list[i+1].frame.Register(3); !v.Known() {
				t.Errorf("middle's rbx is %v: inner has saved it", v)
			}
			// A jitdump tells sfwalk, too, where middle begins: its code from there leaves rbx
			// alone.
			if v := list[i+2].frame.Register(3); v.Known() && (format == "map" || v.Bits != list[i+1].frame.Register(3).Bits) {
				t.Errorf("outer's rbx is %v: middle does not tell", v)
			}
		})
	}
}

// A process in a container has another PID there, and another /tmp.
func TestContainer(t *testing.T) {
	gdbtest.NeedAMD64(t)
	path := compiler(t, "cc", "-static")
	script := `mkdir -p "$2" && mount -t tmpfs none "$2" && exec 3<"$1" && mount --bind "$2" /tmp && exec /proc/self/fd/3 map /tmp`
	unshare := []string{"--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c"}
	if out, err := exec.Command(gdbtest.Tool(t, "unshare"), append(unshare, "mount -t tmpfs none /mnt")...).CombinedOutput(); err != nil {
		gdbtest.Cannot(t, fmt.Sprintf("no container can be made: %v %s", err, out))
	}
	p := gdbtest.Start(t, gdbtest.Tool(t, "unshare"), append(unshare, script, "sh", path, t.TempDir()+"/tmp")...)
	told, err := p.Stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.PID, p.PID))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(children), &pid); err != nil {
		t.Fatalf("unshare's children are %q: %v", children, err)
	}
	list, stop := walk(t, pid, start(t, nil))
	checkCompiled(t, list, stop, told, [3]uint64{32, 32, 32})
}

// The core file of an arm64 process: its map is found below the root that the test gives.
func TestCompiledARM64(t *testing.T) {
	path := compiler(t, "aarch64-linux-gnu-gcc", "-static")
	root, cwd := t.TempDir(), t.TempDir()
	if err := os.Mkdir(root+"/tmp", 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `echo 0 >/proc/$$/coredump_filter; ulimit -c unlimited; ulimit -s 4096; exec "$@"`, "sh",
		gdbtest.Tool(t, "qemu-aarch64"), "-cpu", "cortex-a72", path, "map", root+"/tmp", "trap")
	cmd.Dir = cwd
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.Run() // it dies
	_, told, _ := strings.Cut(out.String(), "ready\n")
	cores, err := filepath.Glob(filepath.Join(cwd, "qemu_*.core"))
	if err != nil || len(cores) != 1 {
		t.Fatalf("%d core files (%v); it has written %q", len(cores), err, &out)
	}
	tg, err := core.Open(cores[0], core.Options{Exe: path})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()

	if list, _ := unwind(t, tg, start(t, nil), external.Target{PID: tg.PID}); slices.ContainsFunc(list, func(f function) bool { return f.by == "perfmap" }) {
		t.Errorf("a dead process's frames are claimed by what is in /tmp: %v", list)
	}
	list, stop := unwind(t, tg, start(t, nil), external.Target{PID: tg.PID, Root: root})
	checkCompiled(t, list, stop, told, [3]uint64{48, 16, 32})
}

// If the plug-in is asked about a process again, and its map has grown, the earlier answers stay
// the same.
func TestBeginsAgain(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := gdbtest.Start(t, compiler(t, "cc"), "map", "/tmp")
	name := fmt.Sprintf("/tmp/perf-%d.map", p.PID)
	t.Cleanup(func() { os.Remove(name) })
	plug := start(t, nil)
	first, _ := walk(t, p.PID, plug)
	i := slices.IndexFunc(first, func(f function) bool { return f.symbol.Function == "middle" })
	if i < 0 {
		t.Fatalf("%v", first)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lo := first[i].symbol.Lo
	if _, err := fmt.Fprintf(f, "%x %x renamed\n", lo, first[i].symbol.Hi-lo); err != nil {
		t.Fatal(err)
	}
	second, stop := walk(t, p.PID, plug)
	if len(second) != len(first) || stop != frame.Outermost || second[i].symbol.Function != "renamed" {
		t.Errorf("%v", second)
	}
}
