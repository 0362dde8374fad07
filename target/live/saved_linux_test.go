package live

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// saved returns a target's snapshot as it is read from its file. Before, it asks the target for all
// that walking could ask for.
func saved(t *testing.T, tg *Target) *snapshot.Target {
	t.Helper()
	for _, m := range tg.Modules().All() {
		m.Image()
	}
	return kept(t, tg)
}

// kept returns a target's snapshot as it is read from its file.
func kept(t *testing.T, tg *Target) *snapshot.Target {
	t.Helper()
	s, err := tg.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	opened, err := snapshot.Read(bytes.NewReader(b.Bytes()), int64(b.Len()), core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	return opened
}

// end kills a process and waits until it is gone.
func end(t *testing.T, p *gdbtest.Process) {
	t.Helper()
	kill(t, p.PID, syscall.SIGKILL)
	p.Exit(t)
}

// A snapshot describes the process that it was taken of, even when that is gone.
func TestSnapshotValue(t *testing.T) {
	p := gdbtest.Start(t, build(t, "idle.c"), "3")
	tg := attach(t, p.PID)
	got := saved(t, tg)
	end(t, p)
	command := tg.Exe + " 3"
	command = command[:min(len(command), 79)] // a file keeps no more than 79 bytes
	if got.PID != p.PID || got.Exe != tg.Exe || got.Pause != tg.Pause || got.Command != command || got.Taken.IsZero() {
		t.Errorf("%+v", got)
	}
	list, _ := got.Threads()
	want := threadsOf(t, tg)
	if len(list) != len(want) || len(want) != 4 {
		t.Fatalf("%d threads, want %d", len(list), len(want))
	}
	for i, th := range want {
		var r arch.Registers
		one := list[i].(*snapshot.Thread)
		if err := one.Registers(&r); err != nil || r != *registersOf(t, th) || one.ID() != th.ID() || one.Name() != th.Name() || one.Held != th.Held || one.Err != nil {
			t.Errorf("thread %+v, want %+v, %v", one, th, err)
		}
		var a, b [256]byte
		sp := r.Value[hostArch.SP]
		n, err := got.Memory().ReadMemory(sp, a[:])
		if tg.Memory().ReadMemory(sp, b[:n]); err != nil || a != b {
			t.Errorf("thread %d: stack differs, %v", one.TID, err)
		}
	}
	for _, m := range got.Modules().All() {
		if _, _, err := m.Image(); err != nil {
			t.Error(err)
		}
	}
	if a, b := len(got.Modules().All()), len(tg.Modules().All()); a != b || len(got.Warnings()) > 0 {
		t.Errorf("%d modules, want %d; warnings %q", a, b, got.Warnings())
	}
}

// The dynamic linker's list, which gdb reads, is as it was in the process.
func TestSnapshotLinkMap(t *testing.T) {
	p, _ := withLibrary(t)
	tg := attach(t, p.PID)
	auxv, err := tg.files.about("auxv")
	if err != nil {
		t.Fatal(err)
	}
	want, err := linkmap.Read(tg.Memory(), hostArch, linkmap.ParseAuxv(auxv, hostArch), nil)
	if err != nil || len(want) < 5 {
		t.Fatalf("%v, %v", want, err)
	}
	s := saved(t, tg)
	end(t, p)
	got, err := linkmap.Read(s.Memory(), hostArch, linkmap.ParseAuxv(auxv, hostArch), nil)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v, %v; want %v", got, err, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

// A library is deleted. It is found with root's privileges and without; then the process dies.
func TestSnapshotDeletedLibrary(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		p, library := withLibrary(t)
		id := readelfBuildID(t, library)
		if err := os.Remove(library); err != nil {
			t.Fatal(err)
		}
		tg := attach(t, p.PID)
		_, before := moduleAt(t, tg, library)
		s := saved(t, tg)
		end(t, p)
		for _, m := range s.Modules().All() {
			if m.Path != library {
				continue
			}
			im, _, err := m.Image()
			if err != nil {
				t.Fatal(err)
			}
			want, ok := symbolNamed(before, "answer")
			if addr, is := symbolNamed(im, "answer"); im.BuildID != id || !is || !ok || addr != want || im.Symbols().Len() != before.Symbols().Len() {
				t.Errorf("build ID %s, want %s; answer at %#x, want %#x; %d symbols, want %d", im.BuildID, id, addr, want, im.Symbols().Len(), before.Symbols().Len())
			}
			a, at, err := im.Segment(elf.PT_GNU_EH_FRAME)
			b, of, err2 := before.Segment(elf.PT_GNU_EH_FRAME)
			if err != nil || err2 != nil || at != of || !bytes.Equal(a, b) {
				t.Errorf(".eh_frame_hdr: %d bytes at %#x, want %d at %#x; %v, %v", len(a), at, len(b), of, err, err2)
			}
			return
		}
		t.Errorf("no module %s", library)
	})
}

// The files of a container are gone with it.
func TestSnapshotContainer(t *testing.T) {
	gdbtest.NeedRoot(t)
	program := build(t, "idle.c", "-static")
	everyWay(t, func(t *testing.T) {
		inside := filepath.Join(t.TempDir(), "root")
		if err := os.Mkdir(inside, 0o755); err != nil {
			t.Fatal(err)
		}
		p := gdbtest.StartRunning(t, gdbtest.Tool(t, "unshare"), "-m", "sh", "-c",
			`mount -t tmpfs none "$1" && cp "$0" "$1/server" && exec "$1/server"`, program, inside)
		s := saved(t, attach(t, p.PID))
		end(t, p)
		for _, m := range s.Modules().All() {
			if strings.HasSuffix(m.Path, "/server") {
				im, _, err := m.Image()
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := symbolNamed(im, "sleeper"); !ok || im.BuildID != readelfBuildID(t, program) {
					t.Errorf("build ID %s, sleeper known: %v", im.BuildID, ok)
				}
				return
			}
		}
		t.Error("the program is no module")
	})
}

// If the process ends before the snapshot is asked for, the snapshot has what was copied.
func TestSnapshotOfEnded(t *testing.T) {
	p := gdbtest.Start(t, build(t, "idle.c"), "2")
	tg := attach(t, p.PID)
	end(t, p)
	s := kept(t, tg)
	list, _ := s.Threads()
	if len(list) != 3 {
		t.Fatalf("%d threads", len(list))
	}
	for _, th := range list {
		var r arch.Registers
		var p [64]byte
		if err := th.Registers(&r); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Memory().ReadMemory(r.Value[hostArch.SP], p[:]); n < len(p) {
			t.Errorf("thread %d: %v", th.ID(), err)
		}
	}
	for _, m := range s.Modules().All() {
		if m.Path == "[vdso]" {
			if _, _, err := m.Image(); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Error("no vDSO")
}

func TestSnapshotOfClosed(t *testing.T) {
	p := start(t, "idle.c")
	tg := attach(t, p.PID)
	tg.Close()
	if s, err := tg.Snapshot(); !errors.Is(err, errClosed) {
		t.Errorf("%v, %v", s, err)
	}
}
