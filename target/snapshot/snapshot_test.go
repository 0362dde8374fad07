package snapshot_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/procmaps"
	"github.com/sfwalk/sfwalk/target/snapshot"
	"github.com/sfwalk/sfwalk/trad"
)

var (
	_ target.Target = (*snapshot.Target)(nil)
	_ target.Thread = (*snapshot.Thread)(nil)
)

var arches = []*arch.Arch{amd64.Arch, arm64.Arch.WithPACMask(0x7f_8000_0000_0000), s390x.Arch}

const (
	pid    = 4242
	text   = 0x55_5555_0000 // mapped from a file, code from its second page on
	stack  = 0x7f_ffff_0000
	nobody = 0x60_0000_0000 // no mapping
)

// fullSnapshot is a snapshot with everything that one can have: threads without some registers,
// copies that begin within a page, that several mappings hold and that none holds, and a file.
func fullSnapshot(a *arch.Arch) *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Arch: a, PID: pid, Exe: "/usr/bin/server", Command: "server --port 80",
		Taken: time.Date(2026, 11, 21, 7, 40, 1, 123456789, time.UTC), Pause: 1234567 * time.Nanosecond, Consistent: true,
		Maps: []procmaps.Mapping{
			{Lo: text, Hi: text + 0x1000, Read: true, Inode: 7, Path: "/usr/bin/server"},
			{Lo: text + 0x1000, Hi: text + 0x3000, Offset: 0x1000, Read: true, Exec: true, Inode: 7, Path: "/usr/bin/server"},
			{Lo: text + 0x10000, Hi: text + 0x12000, Offset: 0x1000, Read: true, Exec: true, Inode: 9, Path: "/lib/gone.so", Deleted: true},
			{Lo: stack, Hi: stack + 0x4000, Read: true, Write: true},
			{Lo: stack + 0x4000, Hi: stack + 0x8000, Read: true, Write: true, Path: "[stack]"},
		},
		Modules: []snapshot.Module{{Path: "/usr/bin/server", Lo: text, BuildID: "0123456789abcdef"}, {Path: "/lib/gone.so", Lo: text + 0x10000}},
		Memory: []snapshot.Block{
			{Addr: text + 0x1800, Data: fill(0x800, 1)},
			{Addr: text + 0x2000, Data: fill(0x10, 2)},
			{Addr: nobody, Data: fill(33, 3)},
			{Addr: stack + 0x3f80, Data: fill(0x1080, 4)},
			{Addr: stack + 0x5000, Data: fill(0x800, 5), Late: true},
			{Addr: stack + 0x5800, Data: fill(0x800, 6), Late: true},
		},
		Files: []snapshot.File{{Lo: text + 0x10000, Content: io.NewSectionReader(bytes.NewReader(fill(0x123, 5)), 0, 0x123)}},
	}
	for _, v := range []uint64{33, text, 0, 0} { // AT_SYSINFO_EHDR, AT_NULL
		var word [8]byte
		a.Order.PutUint64(word[:], v)
		s.Auxv = append(s.Auxv, word[:]...)
	}
	var all arch.Registers
	for _, k := range a.KernelRegs {
		for i, r := range k.Regs {
			v := uint64(k.Note)<<40 + uint64(i+1)*0x0101_0101
			if r.Size < 8 {
				v &= 1<<(8*r.Size) - 1
			}
			all.Set(r.Reg, v)
		}
	}
	if a == arm64.Arch {
		all.Set(arm64.VG, 4)
	}
	all.Set(a.PC, text+0x1804)
	all.Set(a.SP, stack+0x4000)
	var two arch.Registers
	two.Set(a.PC, text+0x2004)
	two.Set(a.SP, stack+0x5000)
	s.Threads = []snapshot.Thread{
		{TID: pid, Comm: "server", Regs: all, Held: time.Millisecond},
		{TID: pid + 1, Comm: "blocked \"{é", Regs: two, Held: time.Second, Err: errors.New("thread cannot be stopped")},
		{TID: pid + 3, Comm: "none", Err: errors.New("it never runs user code")},
		{TID: pid + 2, Comm: "moved", Regs: all, MovedOn: true},
	}
	return s
}

// fill returns n bytes that differ from their neighbours.
func fill(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)*7 + byte(i>>8) + seed
	}
	return b
}

func written(t testing.TB, s *snapshot.Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, data []byte) *snapshot.Target {
	t.Helper()
	tg, err := snapshot.Read(bytes.NewReader(data), int64(len(data)), core.Options{Sysroot: "/nonexistent"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// All that is written can be read again, on hosts of any kind.
func TestRoundTrip(t *testing.T) {
	for _, a := range arches {
		t.Run(a.Name, func(t *testing.T) {
			s := fullSnapshot(a)
			data := written(t, s)
			if !bytes.Equal(data, written(t, s)) {
				t.Error("written twice, the bytes differ")
			}
			tg := read(t, data)
			if tg.PID != s.PID || tg.Exe != s.Exe || tg.Command != s.Command || !tg.Taken.Equal(s.Taken) || tg.Pause != s.Pause || !tg.Consistent || tg.Signal != nil {
				t.Errorf("%+v", tg)
			}
			if got := tg.Arch(); got.Name != a.Name || got.AddressMask != a.AddressMask {
				t.Errorf("%s with address mask %#x, want %#x", got.Name, got.AddressMask, a.AddressMask)
			}
			if !reflect.DeepEqual(tg.Listed, s.Modules) {
				t.Errorf("listed %v", tg.Listed)
			}
			equalThreads(t, tg, s)
			equalMemory(t, tg, s)
			equalModules(t, tg)
		})
	}
}

func equalThreads(t *testing.T, tg *snapshot.Target, s *snapshot.Snapshot) {
	t.Helper()
	list, err := tg.Threads()
	if err != nil || len(list) != len(s.Threads) {
		t.Fatalf("%d threads, %v", len(list), err)
	}
	for i, th := range list {
		got, want := th.(*snapshot.Thread), &s.Threads[i]
		if got.ID() != want.TID || got.Name() != want.Comm || got.Regs != want.Regs || got.Held != want.Held || got.MovedOn != want.MovedOn || fmt.Sprint(got.Err) != fmt.Sprint(want.Err) {
			t.Errorf("thread %+v, want %+v", got, want)
		}
		var r arch.Registers
		if err := th.Registers(&r); (err != nil) != (want.Regs.Known.Len() == 0) || r != want.Regs || err != nil && err.Error() != want.Err.Error() {
			t.Errorf("thread %d: %v", got.ID(), err)
		}
	}
}

func equalMemory(t *testing.T, tg *snapshot.Target, s *snapshot.Snapshot) {
	t.Helper()
	for _, b := range s.Memory {
		got := make([]byte, len(b.Data))
		if n, err := tg.Memory().ReadMemory(b.Addr, got); n != len(got) || err != nil || !bytes.Equal(got, b.Data) {
			t.Errorf("at %#x: %d of %d bytes, %v", b.Addr, n, len(got), err)
		}
	}
	mover := tg.Memory().(target.RunningMemory)
	for at, want := range map[uint64]bool{stack + 0x4fff: false, stack + 0x5000: true, stack + 0x5900: true, stack + 0x5fff: true, stack + 0x6000: false} {
		if mover.MovedOn(at, 1) != want {
			t.Errorf("at %#x: moved on %v, want %v", at, !want, want)
		}
	}
	lender := tg.Memory().(target.CopiedMemory)
	for _, b := range s.Memory {
		for _, at := range []uint64{b.Addr, b.Addr + uint64(len(b.Data))/2, b.End() - 1} {
			lo, data := lender.Window(at)
			if b.Late && len(data) > 0 || !b.Late && at-lo >= uint64(len(data)) {
				t.Errorf("at %#x: lent %d bytes at %#x", at, len(data), lo)
			}
			for i := range data {
				if mover.MovedOn(lo+uint64(i), 1) {
					t.Fatalf("at %#x: lent %#x, which is of a later moment", at, lo+uint64(i))
				}
			}
			got := make([]byte, len(data))
			if tg.Memory().ReadMemory(lo, got); !bytes.Equal(got, data) {
				t.Errorf("at %#x: what is lent is not what is read", at)
			}
		}
	}
	// Two adjacent blocks are read at once. Memory that was not copied is not read.
	if n, err := tg.Memory().ReadMemory(text+0x1ff0, make([]byte, 0x40)); n != 0x20 || !errors.Is(err, target.ErrUnmapped) {
		t.Errorf("%d bytes, %v", n, err)
	}
	for _, at := range []uint64{text, text + 0x17ff, stack, stack + 0x3f7f, stack + 0x6000, nobody - 1, nobody + 33} {
		if n, err := tg.Memory().ReadMemory(at, make([]byte, 1)); n != 0 || !errors.Is(err, target.ErrUnmapped) {
			t.Errorf("at %#x: %d bytes, %v", at, n, err)
		}
	}
}

func equalModules(t *testing.T, tg *snapshot.Target) {
	t.Helper()
	all := tg.Modules().All()
	want := [][]target.Mapping{
		{{Lo: text, Hi: text + 0x1000}, {Lo: text + 0x1000, Hi: text + 0x3000, Offset: 0x1000, Exec: true}},
		{{Lo: text + 0x10000, Hi: text + 0x12000, Offset: 0x1000, Exec: true}},
	}
	var got [][]target.Mapping
	for _, m := range all {
		if m.Path != "[vdso]" { // the auxiliary vector says that the vDSO is in the program
			got = append(got, m.Mappings)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("modules at %+v, want %+v", got, want)
	}
}

// A module's image is the carried file.
func TestCarriedFile(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	im, file, err := elfimage.OpenFile(self)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	a := arch.ByMachine(im.Machine, im.Order)
	if a == nil {
		gdbtest.Cannot(t, "this test's own program is of no supported architecture")
	}
	s := fullSnapshot(a)
	var exec elf.ProgHeader
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			exec = p
		}
	}
	s.Maps[2].Offset = exec.Off &^ 0xfff
	s.Files[0].Content = im.File()
	tg := read(t, written(t, s))
	m := tg.Modules().Find(text + 0x10000)
	got, bias, err := m.Image()
	if err != nil {
		t.Fatal(err)
	}
	if want := text + 0x10000 - exec.Vaddr&^0xfff; got.BuildID != im.BuildID || got.Symbols().Len() != im.Symbols().Len() || bias != want {
		t.Errorf("build ID %s, %d symbols, bias %#x; want %s, %d, %#x", got.BuildID, got.Symbols().Len(), bias, im.BuildID, im.Symbols().Len(), want)
	}
	if w := tg.Warnings(); len(w) > 0 {
		t.Errorf("warnings %q", w)
	}
}

// A file that is cut off anywhere is either refused, or opened with a warning that says what is
// missing. Its remaining parts are right.
func TestCutShort(t *testing.T) {
	s := fullSnapshot(amd64.Arch)
	data := written(t, s)
	opened, whole := 0, read(t, data)
	all, _ := whole.Threads()
	for n := range len(data) {
		tg, err := snapshot.Read(bytes.NewReader(data[:n]), int64(n), core.Options{Sysroot: "/nonexistent"})
		if err != nil {
			continue
		}
		opened++
		list, _ := tg.Threads()
		if text := strings.Join(tg.Warnings(), "\n"); !strings.Contains(text, "cut short") || len(list) < len(all) && !strings.Contains(text, fmt.Sprintf("%d of %d threads are missing", len(all)-len(list), len(all))) {
			t.Fatalf("%d bytes, %d threads: warnings %q", n, len(list), tg.Warnings())
		}
		for i, th := range list {
			if got, want := th.(*snapshot.Thread), all[i].(*snapshot.Thread); got.Regs != want.Regs || got.Comm != want.Comm {
				t.Fatalf("%d bytes: thread %+v", n, got)
			}
		}
		tg.Close()
	}
	if opened < len(data)/2 {
		t.Errorf("%d of %d could be opened", opened, len(data))
	}
}

// Open refuses other versions, and files that are no snapshots.
func TestVersions(t *testing.T) {
	data := written(t, fullSnapshot(amd64.Arch))
	changed := func(old, new string) []byte {
		if len(old) != len(new) || bytes.Count(data, []byte(old)) != 1 {
			t.Fatalf("%q", old)
		}
		return bytes.Replace(data, []byte(old), []byte(new), 1)
	}
	// New fields are skipped.
	tg := read(t, changed(`"consistent":true`, `"news":[{"a":{}}]`))
	if tg.Consistent || tg.Pause == 0 {
		t.Errorf("%+v", tg)
	}
	for _, tt := range []struct {
		data []byte
		kind error
		says string
	}{
		{changed(`"version":1,`, `"version":2,`), snapshot.ErrVersion, "version 2 of the snapshot's note, this program reads up to 1"},
		{changed(`"version":1,`, `"version":0,`), snapshot.ErrNotSnapshot, "version 0"},
		{changed(`{"version":1,`, `("version":1,`), snapshot.ErrNotSnapshot, "broken"},
		{changed(`"threads":[{`, `"threads":{[`), snapshot.ErrNotSnapshot, "broken"},
		{changed(`"pause_ns":1234567`, `"pause_ns":"12345"`), snapshot.ErrNotSnapshot, "broken"},
		{changed("SFWALK\x00\x00{", "SFTALK\x00\x00{"), snapshot.ErrNotSnapshot, "'sfwalk core'"},
		{data[:60], core.ErrNotCore, ""},
	} {
		tg, err := snapshot.Read(bytes.NewReader(tt.data), int64(len(tt.data)), core.Options{})
		if err == nil {
			tg.Close()
		}
		if tt.kind == core.ErrNotCore && err != nil {
			continue
		}
		if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v, want %v: %s", err, tt.kind, tt.says)
		}
	}
}

// A file of version 1 is read as gdb reads it: see testdata/README.md.
func TestVersion1(t *testing.T) {
	tg, err := snapshot.Open("testdata/nap-amd64.snapshot", core.Options{Sysroot: "/nonexistent"})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	threads, _ := tg.Threads()
	if tg.PID != 5108 || tg.Exe != "/tmp/seed/nap" || tg.Command != "./nap" || len(threads) != 1 || threads[0].ID() != 5108 || threads[0].Name() != "nap" {
		t.Fatalf("%+v, %d threads", tg, len(threads))
	}
	var r arch.Registers
	if err := threads[0].Registers(&r); err != nil {
		t.Fatal(err)
	}
	for reg, want := range map[trad.Reg]uint64{amd64.RIP: 0x40100a, amd64.RSP: 0x7ffd237acf70, amd64.RAX: 0xfffffffffffffdfe, amd64.RDX: 0x22, amd64.RFLAGS: 0x202, amd64.SS: 0x2b} {
		if v, ok := r.Get(reg); v != want || !ok {
			t.Errorf("%s is %#x, gdb has %#x", tg.Arch().RegName(reg), v, want)
		}
	}
	var p [32]byte
	if n, err := tg.Memory().ReadMemory(0x7ffd237acf70, p[:]); n != len(p) {
		t.Fatal(err)
	}
	for i, want := range []uint64{0x401011, 0x401016, 1, 0x00007ffd237adfec} {
		if v := tg.Arch().Order.Uint64(p[8*i:]); v != want {
			t.Errorf("word %d is %#x, gdb has %#x", i, v, want)
		}
	}
	var modules []string
	for _, m := range tg.Modules().All() {
		modules = append(modules, fmt.Sprintf("%s %#x-%#x", m.Path, m.Lo(), m.Hi()))
	}
	if got := strings.Join(modules, ", "); got != "/tmp/seed/nap 0x400000-0x403000, [vdso] 0x7fc0901f4000-0x7fc0901f6000" {
		t.Errorf("modules %s", got)
	}
}
