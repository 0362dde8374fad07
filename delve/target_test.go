//go:build linux && (amd64 || arm64)

package delve_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/regnum"
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/native"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
	"github.com/sfwalk/sfwalk/trad"
)

// Threads have all registers that Delve has, by the same numbers.
func TestRegisters(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Cgo(t))
	pt := delvetest.Attach(t, p.PID).Selected
	tg := open(t, pt)
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	if len(threads) != len(pt.ThreadList()) {
		t.Errorf("%d threads, Delve has %d", len(threads), len(pt.ThreadList()))
	}
	for _, th := range threads {
		own, ok := pt.FindThread(th.ID())
		if !ok {
			t.Fatalf("Delve has no thread %d", th.ID())
		}
		regs, err := own.Registers()
		if err != nil {
			t.Fatal(err)
		}
		var got arch.Registers
		if err := th.Registers(&got); err != nil {
			t.Fatal(err)
		}
		dwarf := pt.BinInfo().Arch.RegistersToDwarfRegisters(0, regs)
		for _, r := range tg.Arch().Regs {
			number := uint64(r.Num)
			if r.Name == "eflags" {
				number = regnum.AMD64_Rflags
			}
			want := dwarf.Reg(number)
			if v, known := got.Get(r.Num); !known || want == nil || v != want.Uint64Val {
				t.Errorf("thread %d: %s is %#x (%v), Delve has %v", th.ID(), r.Name, v, known, want)
			}
		}
		if fs, _ := got.Get(trad.Reg(58)); fs == 0 || fs != regs.TLS() {
			t.Errorf("thread %d: fs_base is %#x, Delve's TLS %#x", th.ID(), fs, regs.TLS())
		}
	}
}

func open(t *testing.T, pt *proc.Target) *delve.Target {
	t.Helper()
	tg, err := delve.NewTarget(pt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	})
	return tg
}

// Where Delve has put breakpoints, the engine reads the program's own code, while Delve's memory
// shows the breakpoints.
func TestBreakpoints(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Cgo(t))
	pt := delvetest.Attach(t, p.PID).Selected
	fns, err := pt.BinInfo().FindFunction("main.parks")
	if err != nil {
		t.Fatal(err)
	}
	fn := fns[0]
	tg := open(t, pt)
	want, got, patched := make([]byte, fn.End-fn.Entry), make([]byte, fn.End-fn.Entry), make([]byte, fn.End-fn.Entry)
	if _, err := pt.Memory().ReadMemory(want, fn.Entry); err != nil {
		t.Fatal(err)
	}
	for i, at := range []uint64{fn.Entry, fn.Entry + 9, fn.End - 1} {
		if _, err := pt.SetBreakpoint(1000+i, at, proc.UserBreakpoint, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := tg.Refresh(); err != nil {
		t.Fatal(err)
	}
	if _, err := pt.Memory().ReadMemory(patched, fn.Entry); err != nil || bytes.Equal(patched, want) {
		t.Fatalf("Delve's memory does not show its breakpoints (%v)", err)
	}
	if n, err := tg.Memory().ReadMemory(fn.Entry, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v:\n% x\nwant\n% x", n, err, got, want)
	}
	// It does so also at the edges of a read.
	for _, at := range []uint64{fn.Entry, fn.Entry + 9, fn.End - 1} {
		var b [1]byte
		if _, err := tg.Memory().ReadMemory(at, b[:]); err != nil || b[0] != want[at-fn.Entry] {
			t.Errorf("%#x: %#x, want %#x (%v)", at, b[0], want[at-fn.Entry], err)
		}
	}
}

// Memory gives what can be read, and says what cannot.
func TestMemory(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Cgo(t))
	pt := delvetest.Attach(t, p.PID).Selected
	tg := open(t, pt)
	maps, err := procmaps.Parse(readFile(t, filepath.Join("/proc", strconv.Itoa(p.PID), "maps")))
	if err != nil {
		t.Fatal(err)
	}
	edges := 0
	for i := range maps[:len(maps)-1] {
		m := &maps[i]
		// Delve also reads what the process itself may not.
		if !m.Read || maps[i+1].Lo == m.Hi || m.Hi-m.Lo < 1<<13 || m.Path == "[vvar]" {
			continue
		}
		edges++
		for _, before := range []uint64{1, 8, 4095, 4096, 8192} {
			b := make([]byte, before+100)
			if n, err := tg.Memory().ReadMemory(m.Hi-before, b); n != int(before) || !errors.Is(err, target.ErrUnmapped) {
				t.Errorf("%#x, %d bytes before %s ends: read %d, %v", m.Hi-before, before, m.Path, n, err)
			}
		}
	}
	if edges < 3 {
		t.Errorf("%d mappings end before nothing", edges)
	}
	for _, at := range []uint64{0, 8, ^uint64(0), ^uint64(0) - 4095} {
		if n, err := tg.Memory().ReadMemory(at, make([]byte, 16)); n != 0 || !errors.Is(err, target.ErrUnmapped) {
			t.Errorf("%#x: read %d, %v", at, n, err)
		}
	}
}

// Modules that stay are the same objects after the process has run, and new modules appear.
func TestRefresh(t *testing.T) {
	delvetest.Quiet(t)
	plugin := gdbtest.Build(t, "plugin.c", append([]string{"-shared", "-fPIC"}, gdbtest.Plain...)...)
	exe := gdbtest.Build(t, "dlopen.c", append([]string{"-pie"}, gdbtest.Plain...)...)
	stdin := filepath.Join(t.TempDir(), "stdin") // a pipe that never ends
	if err := syscall.Mkfifo(stdin, 0o600); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(stdin, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	grp, err := native.Launch([]string{exe, plugin}, "", 0, nil, "", stdin, proc.OutputRedirect{Path: os.DevNull}, proc.OutputRedirect{})
	if err != nil {
		t.Fatal(err)
	}
	defer grp.Detach(true)
	tg := open(t, grp.Selected)
	before := tg.Modules()
	if err := tg.Refresh(); err != nil || tg.Modules() != before {
		t.Errorf("nothing has happened, and there is another list (%v)", err)
	}
	has := func(path string) bool {
		return slices.ContainsFunc(tg.Modules().All(), func(m *target.Module) bool { return m.Path == path })
	}
	if !has(exe) || has(plugin) {
		t.Fatalf("the program is there: %v; the library: %v", has(exe), has(plugin))
	}
	maps := fmt.Sprintf("/proc/%d/maps", grp.Selected.Pid())
	delvetest.Run(t, grp, "the library is there", func() bool {
		text, err := os.ReadFile(maps)
		return err == nil && bytes.Contains(text, []byte(plugin))
	})
	if err := tg.Refresh(); err != nil {
		t.Fatal(err)
	}
	if !has(plugin) || len(tg.Modules().All()) < len(before.All())+2 {
		t.Errorf("the library is seen: %v; %d modules, there were %d", has(plugin), len(tg.Modules().All()), len(before.All()))
	}
	for _, m := range before.All() {
		if !slices.Contains(tg.Modules().All(), m) {
			t.Errorf("%s is another module than before", m.Path)
		}
	}
	if tg.Modules().Generation == before.Generation {
		t.Error("rows of the old list serve for the new one")
	}

	// A program without Go has threads.
	frames, err := delve.Frames(tg, delve.Goroutine(-1), delve.Options{Depth: 50})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range frames {
		names = append(names, frames[i].Function.Name())
	}
	if last := &frames[len(frames)-1]; !slices.Contains(names, "C.main") || !last.Bottom {
		t.Errorf("the stack is %q, and ends with %s", names, describe(&last.Stackframe))
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
