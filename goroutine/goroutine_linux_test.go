package goroutine

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// The list has the goroutines and frames that the runtime itself prints, with the same numbers,
// structs g, states, threads, functions, lines, PC and SP. The fields have the offsets that they
// have in the DWARF of the same program.
func TestTraceback(t *testing.T) {
	twin := dwarfLayout(t, gdbtest.Build(t, "delvego"))
	for _, test := range []struct {
		name  string
		flags []string
	}{
		{"plain", nil},
		{"without DWARF", []string{"-ldflags=-w"}},
		{"stripped", []string{"-ldflags=-s -w"}},
		{"stripped PIE", []string{"-buildmode=pie", "-ldflags=-s -w"}},
		{"stripped cgo", []string{"CGO_ENABLED=1", "-ldflags=-s -w"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, "system", gdbtest.Build(t, "delvego", test.flags...), "quiet")
			tg := s.attach(t)
			list := observe(t, tg, twin)
			r, err := Find(tg)
			if err != nil {
				t.Fatal(err)
			}
			checkFields(t, r.fields, twin)
			compare(t, list, s.quit(t), 900)
		})
	}
}

// Core files of other processors also have the goroutines that the runtime prints.
func TestGuests(t *testing.T) {
	for arch, machine := range map[string]elf.Machine{"arm64": elf.EM_AARCH64, "s390x": elf.EM_S390} {
		t.Run(arch, func(t *testing.T) {
			twin := dwarfLayout(t, gdbtest.Build(t, "delvego", "GOARCH="+arch))
			tg, said := guest(t, emulators[machine], gdbtest.Build(t, "delvego", "GOARCH="+arch, "-ldflags=-s -w"), "quiet")
			compare(t, observe(t, tg, twin), said, 900)
			r, err := Find(tg)
			if err != nil {
				t.Fatal(err)
			}
			checkFields(t, r.fields, twin)
		})
	}
}

// SFWALK_GOROUTINES names a build of testdata/progs/goparked by another release of Go, or for
// another processor. The build needs DWARF. For this processor, the test strips it before it runs.
func TestRelease(t *testing.T) {
	path := os.Getenv("SFWALK_GOROUTINES")
	if path == "" {
		gdbtest.Cannot(t, "SFWALK_GOROUTINES is not set")
	}
	twin := dwarfLayout(t, path)
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	var tg target.Target
	var list []observed
	var said map[uint64]*traceback
	if emulator := emulators[f.Machine]; emulator != "" {
		tg, said = guest(t, emulator, path, "200")
		list = observe(t, tg, twin)
	} else {
		stripped := filepath.Join(t.TempDir(), "stripped")
		if out, err := exec.Command(gdbtest.Tool(t, "strip"), "-s", "-o", stripped, path).CombinedOutput(); err != nil {
			t.Fatalf("strip: %v %s", err, out)
		}
		s := start(t, "system", stripped, "200")
		tg = s.attach(t)
		list = observe(t, tg, twin)
		defer func() { compare(t, list, s.quit(t), 200) }()
	}
	r, err := Find(tg)
	if err != nil {
		t.Fatal(err)
	}
	checkFields(t, r.fields, twin)
	if said != nil {
		compare(t, list, said, 200)
	}
}

// A core file that gdb writes has the goroutines of the process.
func TestCore(t *testing.T) {
	exe := gdbtest.Build(t, "delvego", "-ldflags=-s -w")
	s := start(t, "system", exe, "quiet")
	r, err := Find(s.attach(t))
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.All()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "core")
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", strconv.Itoa(s.pid), "-ex", "generate-core-file "+path).CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	r, err = Find(openCore(t, path, exe))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := r.All()
	if err != nil {
		t.Error(err)
	}
	byNumber := map[uint64]Goroutine{}
	for _, g := range got {
		byNumber[g.Number] = g
	}
	same := 0
	for _, g := range want {
		// Goroutines in "IO wait" end, one after the other, when the collector closes a pipe.
		x, ok := byNumber[g.Number]
		x.Module, g.Module = nil, nil // each target has modules of its own
		if reflect.DeepEqual(x, g) {
			same++
		} else if g.Number > 100 && ok && g.Status == Waiting && g.Reason != "IO wait" {
			t.Errorf("%+v\nwant %+v", x, g)
		}
	}
	if same < 900 {
		t.Errorf("%d goroutines are the same", same)
	}
}

// In a PID namespace the process knows its threads by other numbers than the target.
func TestNamespace(t *testing.T) {
	twin := dwarfLayout(t, gdbtest.Build(t, "delvego"))
	s := startIn(t, "", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}, "system", gdbtest.Build(t, "delvego", "-ldflags=-s -w"), "quiet")
	threads := 0
	for _, o := range observe(t, s.attach(t), twin) {
		if o.Status != Syscall {
			continue
		}
		threads++
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", s.pid, o.Thread))
		if err != nil {
			t.Errorf("goroutine %d is on thread %d: %v", o.Number, o.Thread, err)
		}
		want := fmt.Sprintf("\nNSpid:\t%d\t%d\n", o.Thread, o.procid)
		if uint64(o.Thread) == o.procid || !strings.Contains(string(status), want) {
			t.Errorf("goroutine %d is on thread %d, and its m on %d; the kernel says\n%s", o.Number, o.Thread, o.procid, status)
		}
	}
	if threads < 5 {
		t.Errorf("%d threads are in system calls", threads)
	}
}

// The goroutines of a working process can be listed at any moment. Each is on a thread of its own,
// or its stack leads to the function that it began with.
func TestBusy(t *testing.T) {
	exe := gdbtest.Build(t, "delvego", "-ldflags=-s -w")
	twin := dwarfLayout(t, gdbtest.Build(t, "delvego"))
	p := gdbtest.StartRunning(t, exe)
	s := &subject{pid: p.PID}
	running := 0
	for range 10 {
		p.Stop(t)
		list := observe(t, s.attach(t), twin)
		p.Continue(t)
		if len(list) < 900 {
			t.Errorf("%d goroutines", len(list))
		}
		threads := map[int]uint64{}
		for _, o := range list {
			switch n := len(o.frames); {
			case o.Thread != 0 && threads[o.Thread] != 0:
				t.Errorf("goroutines %d and %d are on thread %d", threads[o.Thread], o.Number, o.Thread)
			case o.Thread != 0:
				threads[o.Thread] = o.Number
				running++
				if uint64(o.Thread) != o.procid {
					t.Errorf("goroutine %d is on thread %d, and its m on %d", o.Number, o.Thread, o.procid)
				}
			case !o.Parked():
				t.Errorf("goroutine %d, %s: on no thread, and not parked", o.Number, o.said())
			case n < 2 || o.frames[n-1].function != "runtime.goexit" || o.frames[n-2].function != o.start && o.frames[n-2].function != "runtime.goexit1": // it has returned
				t.Errorf("goroutine %d, %s: it began in %s, and its stack is %v %s", o.Number, o.said(), o.start, o.frames, o.why)
			}
		}
	}
	t.Logf("%d times a goroutine was on a thread", running)
}

// Find does not depend on one function of the runtime: others refer to the same data.
func TestOtherFunctions(t *testing.T) {
	tg := start(t, "none", gdbtest.Build(t, "goparked", "-ldflags=-s -w")).attach(t)
	want, err := Find(tg)
	if err != nil || want.reasons == 0 {
		t.Fatal(err)
	}
	defer func(a, b []string) { listFunctions, reasonFunctions = a, b }(listFunctions, reasonFunctions)
	listFunctions, reasonFunctions = []string{"runtime.forEachG"}, []string{"runtime.goroutineheader"}
	got, err := Find(tg)
	if err != nil || got.allgs != want.allgs || got.reasons != want.reasons {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	listFunctions, reasonFunctions = []string{"runtime.gopark"}, []string{"runtime.gopark"}
	if _, err := Find(tg); !errors.Is(err, ErrUnknown) || errors.Is(err, ErrNotGo) {
		t.Errorf("a function that does not refer to the list: error %v", err)
	}
	listFunctions = []string{"runtime.allgadd"}
	if got, err = Find(tg); err != nil || got.reasons != 0 {
		t.Errorf("reasons at %#x, %v", got.reasons, err)
	}
	if list, err := got.All(); err != nil || len(list) < 10 || list[0].Reason != "" {
		t.Errorf("%d goroutines, %v", len(list), err)
	}
}

// A program of C has no Go code.
func TestC(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c"))
	s := &subject{pid: p.PID}
	if _, err := Find(s.attach(t)); !errors.Is(err, ErrNotGo) {
		t.Errorf("error %v", err)
	}
}
