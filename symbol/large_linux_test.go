package symbol

import (
	"debug/elf"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/bench/cplusplus"
	"github.com/sfwalk/sfwalk/internal/bench/llvm"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// Of a large C++ program all is known that gdb and llvm-symbolizer know, also where its debug
// information does not fit in the room that there is: units are dropped one by one, and read again.
func TestLargeProgram(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "g++")
	const units, asked = 3, 600
	file, err := cplusplus.Program(t.Context(), t.TempDir(), units)
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := cplusplus.Profile(file, asked)
	if err != nil {
		t.Fatal(err)
	}
	if inlined, lines, _ := compare(t, New(Options{}), file, askGDB(t, file, addresses)); inlined < asked || lines < asked*9/10 {
		t.Errorf("%d inlined calls, %d lines: the test does not test", inlined, lines)
	}

	locate := func(ms *target.Modules, s *Symbolizer) (all [][]Location) {
		for _, a := range addresses {
			list := s.Locate(ms, a+testBias)
			for i := range list {
				list[i].Module = nil
			}
			all = append(all, list)
		}
		return all
	}
	packed := filepath.Join(t.TempDir(), "packed")
	run(t, "", "objcopy", "--compress-debug-sections=zlib", file, packed)
	ms, s := fullTarget(t, []string{file}, 0), New(Options{})
	defer s.Close()
	want := locate(ms, s)
	whole := s.tables(ms.All()[0]).elf.dwarf().holdings.bytes()
	shed := 0
	for left := whole / 4; left < whole; left += whole / 4 {
		ms, s := fullTarget(t, []string{file}, left), New(Options{})
		defer s.Close()
		got := locate(ms, s)
		if w := s.Warnings(ms.All()[0]); len(w) > 0 {
			continue
		}
		shed++
		if !reflect.DeepEqual(got, want) {
			t.Errorf("room for %d bytes of %d: the answers differ", left, whole)
		}
		if now := s.tables(ms.All()[0]).elf.dwarf().holdings.bytes(); now > left {
			t.Errorf("room for %d bytes: %d are held", left, now)
		}
	}
	if shed == 0 {
		t.Error("warnings however much room there is")
	}

	// Of a compressed program, too, also where there is no more room than for what it is inflated
	// to and what is made of that.
	for _, left := range []int64{0, whole + debugSize(t, file)} {
		ms, s := fullTarget(t, []string{packed}, left), New(Options{})
		defer s.Close()
		if got := locate(ms, s); !reflect.DeepEqual(got, want) {
			t.Errorf("compressed, room for %d bytes: the answers differ", left)
		}
		if w := s.Warnings(ms.All()[0]); len(w) > 0 {
			t.Errorf("compressed, room for %d bytes: %v", left, w)
		}
	}

	t.Run("llvm-symbolizer", func(t *testing.T) { compareLLVM(t, file, addresses, want) })
}

// compareLLVM compares locations of addresses with llvm-symbolizer's.
func compareLLVM(t *testing.T, file string, addresses []uint64, want [][]Location) {
	program, err := llvm.Program()
	if err != nil {
		gdbtest.Cannot(t, err.Error())
	}
	theirs, err := llvm.Ask(t.Context(), program, llvm.Short(file), addresses)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := llvm.ReadRows(file)
	if err != nil {
		t.Fatal(err)
	}
	var ours [][]llvm.Frame
	for _, list := range want {
		var frames []llvm.Frame
		for _, l := range list {
			name := l.File
			if l.Dir != "" {
				name = path.Join(l.Dir, name)
			}
			frames = append(frames, llvm.Frame{Function: l.Function, File: name, Line: l.Line})
		}
		ours = append(ours, frames)
	}
	if d := llvm.Compare(ours, theirs, func(i int, f llvm.Frame) bool { return rows.Has(addresses[i], f) }); d.All() > 0 {
		t.Errorf("of %d addresses, llvm-symbolizer has a line of %d that have none, other inlined calls of %d, another function of %d, another line of %d",
			d.Addresses, d.None, d.Chain, d.Name, d.File)
		for _, i := range d.Shown {
			t.Logf("%#x: %v, llvm-symbolizer %v", addresses[i], ours[i], theirs[i])
		}
	}
}

// debugSize returns the bytes of a file's debug information that is not compressed.
func debugSize(t *testing.T, path string) (n int64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug_") {
			n += int64(s.Size)
		}
	}
	return n
}

// bytes returns the memory of all that is held.
func (x *holdings) bytes() (n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, h := range x.list {
		n += h.bytes.Load()
	}
	return n
}
