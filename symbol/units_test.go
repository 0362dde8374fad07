//go:build linux

package symbol

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// manyUnits compiles a program of several units.
func manyUnits(t *testing.T, flags ...string) string {
	t.Helper()
	dir := sources(t)
	args := append([]string{"-O2", "-Iinc"}, flags...)
	for i := range 6 {
		name := fmt.Sprintf("unit%d.c", i)
		text := fmt.Sprintf(`
__attribute__((noinline)) int inner%[1]d(int x) { __asm__ volatile(""); return x * %[1]d; }
__attribute__((cold)) int unlikely%[1]d(int x) { return inner%[1]d(x) + 1; }
int outer%[1]d(int x) { return x > 5 ? unlikely%[1]d(x) : inner%[1]d(x) + 2; }
`, i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	return compile(t, dir, "cc", "calls.c", args...)
}

// wholeUnit is a unit as debug/dwarf reads it.
type wholeUnit struct {
	offset    uint64 // of its header
	name, dir string
	ranges    [][2]uint64
}

func wholeUnits(t *testing.T, file string) (units []wholeUnit) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	for r := data.Reader(); ; r.SkipChildren() {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return units
		}
		if e.Tag != dwarf.TagCompileUnit && e.Tag != dwarf.TagPartialUnit {
			continue
		}
		u := wholeUnit{offset: uint64(e.Offset)}
		u.name, _ = e.Val(dwarf.AttrName).(string)
		u.dir, _ = e.Val(dwarf.AttrCompDir).(string)
		all, err := data.Ranges(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool {
				return p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && r[0] < r[1] && r[0] >= p.Vaddr && r[1] <= p.Vaddr+p.Memsz
			}) {
				u.ranges = append(u.ranges, r)
			}
		}
		units = append(units, u)
	}
}

// dwarfOf opens the DWARF of a file.
func dwarfOf(t *testing.T, file string) *debugInfo {
	t.Helper()
	ms, _ := mapped(t, file)
	d := New(Options{}).tables(ms.All()[0]).elf.dwarf().get()
	if d == nil {
		t.Fatalf("%s: no DWARF", file)
	}
	return d
}

// The units' headers have the attributes that debug/dwarf reads from their first entries.
func TestUnits(t *testing.T) {
	for name, file := range map[string]string{
		"dwarf5":  manyUnits(t, "-gdwarf-5"),
		"dwarf4":  manyUnits(t, "-gdwarf-4"),
		"dwarf64": manyUnits(t, "-g", "-gdwarf64"),
		"dwarf2":  manyUnits(t, "-gdwarf-2", "-gstrict-dwarf"),
		"zlib":    manyUnits(t, "-g", "-gz=zlib"),
		"lto":     manyUnits(t, "-g", "-flto"),
		"go":      gdbtest.Build(t, "gotarget"),
	} {
		d := dwarfOf(t, file)
		d.whole()
		want := wholeUnits(t, file)
		if len(d.units) != len(want) || len(want) < 2 {
			t.Errorf("%s: %d units, debug/dwarf has %d", name, len(d.units), len(want))
			continue
		}
		for i, u := range d.units {
			got := wholeUnit{u.Entry, d.text(u, u.head.name), d.text(u, u.head.dir), u.head.ranges}
			if fmt.Sprint(got) != fmt.Sprint(want[i]) {
				t.Errorf("%s: %v, debug/dwarf has %v", name, got, want[i])
			}
		}
	}
}

// Any part of a section equals the same bytes of the whole section.
func TestSection(t *testing.T) {
	compressed := gdbtest.Build(t, "gotarget")
	old := filepath.Join(t.TempDir(), "gotarget-zdebug")
	run(t, "", "objcopy", "--compress-debug-sections=zlib-gnu", compressed, old)
	for _, file := range []string{manyUnits(t, "-g"), compressed, old} {
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := rand.New(rand.NewPCG(1, 2))
		large := 0
		for _, s := range f.Sections {
			_, name, ok := strings.Cut(s.Name, "debug_")
			if !ok {
				continue
			}
			want, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			if len(want) > 2*chunkSize {
				large++
			}
			for way := range 4 {
				got, err := openSection(imageOf(t, file), name, uint64(way%2)*4096)
				if err != nil || got.len() != uint64(len(want)) {
					t.Fatalf("%s: %d bytes, want %d, %v", s.Name, got.len(), len(want), err)
				}
				got.passing = way > 0
				got.refused = way == 3 // as if there were no room for the whole section
				times, unpack := 0, got.file.Unpack
				got.file.Unpack = func() (io.Reader, error) { times++; return unpack() }
				for i := range 400 {
					if way == 2 && i == 1 {
						got.keep()
					}
					lo := r.IntN(len(want) + 1)
					hi := lo + r.IntN(min(len(want)-lo, 1<<r.IntN(20))+1)
					b, err := got.bytes(uint64(lo), uint64(hi))
					if err != nil || !bytes.Equal(b, want[lo:hi]) {
						t.Fatalf("%s: bytes %#x to %#x differ, %v", s.Name, lo, hi, err)
					}
					kept := 0
					for _, c := range got.chunks {
						if c != nil {
							kept++
						}
					}
					if got.passing && kept > 2 {
						t.Fatalf("%s: %d chunks of a section that passes are kept", s.Name, kept)
					}
				}
				if got.file.Plain == nil && len(want) > 2*chunkSize {
					if got.passing != (way == 3) {
						t.Errorf("%s, %d: the section passes: %v", s.Name, way, got.passing)
					}
					if times > 2 {
						t.Errorf("%s, %d: inflated %d times", s.Name, way, times)
					}
				}
				if _, err := got.bytes(1, uint64(len(want)+1)); err == nil {
					t.Errorf("%s: bytes beyond the end", s.Name)
				}
			}
		}
		if strings.Contains(file, "gotarget") && large == 0 {
			t.Error("no section is large")
		}
	}
}

func imageOf(t *testing.T, file string) *elfimage.Image {
	t.Helper()
	ms, _ := mapped(t, file)
	im, _, err := ms.All()[0].Image()
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// arange is one unit's part of a made-up .debug_aranges.
type arange struct {
	unit   uint64 // offset of its header
	ranges [][2]uint64
}

func arangesSection(sets []arange) []byte {
	var b dwarfBytes
	for _, s := range sets {
		var set dwarfBytes
		set.put(uint16(2), uint32(s.unit), 8, 0, uint32(0))
		for _, r := range s.ranges {
			set.put(r[0], r[1]-r[0])
		}
		set.put(uint64(0), uint64(0))
		b.put(uint32(set.Len())).Write(set.Bytes())
	}
	return b.Bytes()
}

// Every address has gdb's answer for the honest file, whatever .debug_aranges says.
func TestAranges(t *testing.T) {
	for _, dwarf := range []string{"-gdwarf-5", "-gdwarf-4"} {
		file := manyUnits(t, dwarf, "-no-pie")
		answers := askGDB(t, file, append(textAddresses(t, file, ".text", 1), textAddresses(t, file, ".plt", 3)...))
		header := uint64(unitHeader4)
		if dwarf == "-gdwarf-5" {
			header = 12
		}
		var honest []arange
		all := [2]uint64{1 << 62, 0}
		for _, u := range wholeUnits(t, file) {
			honest = append(honest, arange{u.offset - header, u.ranges})
			for _, r := range u.ranges {
				all = [2]uint64{min(all[0], r[0]), max(all[1], r[1])}
			}
		}
		change := func(f func(i int, a *arange)) []byte {
			sets := slices.Clone(honest)
			for i := range sets {
				f(i, &sets[i])
			}
			return arangesSection(sets)
		}
		n := len(honest)
		good := arangesSection(honest)
		long := bytes.Clone(good)
		binary.LittleEndian.PutUint32(long, 0xfffffff0)
		damaged := bytes.Clone(good)
		r := rand.New(rand.NewPCG(5, 6))
		for range 40 {
			damaged[r.IntN(len(damaged))] ^= 1 << r.IntN(8)
		}
		for name, section := range map[string][]byte{
			"the compiler's":     nil,
			"honest":             good,
			"empty":              {},
			"missing units":      arangesSection(honest[n/2:]),
			"no ranges":          change(func(i int, a *arange) { a.ranges = nil }),
			"another unit's":     change(func(i int, a *arange) { a.unit = honest[(i+1)%n].unit }),
			"all of it":          change(func(i int, a *arange) { a.ranges = [][2]uint64{all} }),
			"overlapping":        append(bytes.Clone(good), change(func(i int, a *arange) { a.ranges = [][2]uint64{{all[0], all[1] - uint64(i)}} })...),
			"shifted":            change(func(i int, a *arange) { a.ranges = [][2]uint64{{a.ranges[0][0] - 9, a.ranges[0][1] - 9}} }),
			"within a unit":      change(func(i int, a *arange) { a.unit += 1 + uint64(i) }),
			"beyond .debug_info": change(func(i int, a *arange) { a.unit += 1 << 30 }),
			"wraps around":       change(func(i int, a *arange) { a.ranges = [][2]uint64{{all[0], all[0] - 1}, {^uint64(0), 7}} }),
			"cut off":            good[:len(good)*2/3+3],
			"too long":           long,
			"damaged":            damaged,
		} {
			t.Run(name+dwarf, func(t *testing.T) {
				changed := file
				if section != nil {
					dir := t.TempDir()
					changed = filepath.Join(dir, "changed")
					if err := os.WriteFile(dir+"/aranges", section, 0o666); err != nil {
						t.Fatal(err)
					}
					run(t, "", "objcopy", "--update-section", ".debug_aranges="+dir+"/aranges", file, changed)
				}
				s := New(Options{})
				inlined, lines, _ := compare(t, s, changed, answers)
				if inlined < 100 || lines < 100 {
					t.Errorf("%d inlined calls, %d lines", inlined, lines)
				}
				// Each address by itself, before anything else is known.
				for i := 0; i < len(answers); i += 37 {
					compare(t, New(Options{}), changed, answers[i:i+1])
				}
			})
		}
	}
}

// The search for an address by .debug_aranges looks at no unit but the address's own.
func TestArangesSave(t *testing.T) {
	file := manyUnits(t, "-g", "-no-pie")
	units := wholeUnits(t, file)
	for _, u := range units {
		if !strings.HasPrefix(u.name, "unit") {
			continue
		}
		d := dwarfOf(t, file)
		var at place
		if chain := d.find(u.ranges[0][0], &at); len(chain) == 0 {
			t.Errorf("%s: nothing at its first address", u.name)
		}
		if n := len(d.units) + len(d.early); n != 1 {
			t.Errorf("%s: %d units were read, want it alone", u.name, n)
		}
	}
	if len(units) != 7 {
		t.Errorf("%d units, want 7", len(units))
	}
}
