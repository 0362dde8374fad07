//go:build linux

package symbol

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// fixture returns an ELF file of testdata; see the make.sh beside it.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	packed, err := os.ReadFile("testdata/" + name + ".xz")
	if errors.Is(err, fs.ErrNotExist) { // later ones are text
		if packed, err = os.ReadFile("testdata/" + name + ".xz.txt"); err == nil {
			packed, err = base64.StdEncoding.DecodeString(string(packed))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := unpack(new(elfimage.Image), packed)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func elfOf(t testing.TB, data []byte) *elf.File {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func openImage(t testing.TB, data []byte) *elfimage.Image {
	t.Helper()
	im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// sectionsOf returns sections of a file by their names.
func sectionsOf(t testing.TB, f *elf.File, names ...string) (parts [][]byte) {
	for _, name := range names {
		parts = append(parts, elftest.Of(t, f, name).Data)
	}
	return parts
}

const (
	smallCode = 0x401000 // where the programs of testdata/small and testdata/split begin
	smallSize = 0x200    // how much code they have at most
)

// program makes a program with a section of code and sections of debug information.
func program(big bool, sections ...elftest.Section) *elftest.File {
	f := &elftest.File{
		Machine: elf.EM_X86_64, Type: elf.ET_EXEC,
		Sections: append([]elftest.Section{{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: smallCode, Data: make([]byte, smallSize)}}, sections...),
	}
	if big {
		f.Machine, f.Order = elf.EM_S390, binary.BigEndian
	}
	return f
}

// packed compresses a section as zlib does if it finds nothing to compress (RFC 1950 and RFC 1951
// section 3.2.4). Only the form matters.
func packed(s elftest.Section, big bool) elftest.Section {
	var order binary.AppendByteOrder = binary.LittleEndian
	if big {
		order = binary.BigEndian
	}
	out := order.AppendUint32(nil, uint32(elf.COMPRESS_ZLIB))
	out = order.AppendUint64(append(out, 0, 0, 0, 0), uint64(len(s.Data)))
	out = order.AppendUint64(out, 1)
	out = append(out, 0x78, 0x01)
	for rest := s.Data; ; {
		n := min(len(rest), 0xffff)
		last := byte(0)
		if n == len(rest) {
			last = 1
		}
		out = binary.LittleEndian.AppendUint16(append(out, last), uint16(n))
		out = append(binary.LittleEndian.AppendUint16(out, ^uint16(n)), rest[:n]...)
		if rest = rest[n:]; last == 1 {
			break
		}
	}
	s.Data, s.Flags = binary.BigEndian.AppendUint32(out, adler32.Checksum(s.Data)), elf.SHF_COMPRESSED
	return s
}

// fuzzed reads one input.
type fuzzed struct {
	image      *elfimage.Image
	size       int // of the code
	splits     func(*elfModule) func(name, dir string, id uint64) iter.Seq[*splitFile]
	supplement *elfimage.Image
}

// open makes a Symbolizer that has read nothing of the image yet.
func (f *fuzzed) open(t testing.TB) (*Symbolizer, *target.Modules) {
	m := mappedWhole(f.image)
	s := New(Options{DebugDirs: []string{}})
	mod := s.tables(m).elf
	if f.splits != nil || f.supplement != nil {
		mod.infoFound.Do(func() {
			x := newSharedInfo(mod, f.image)
			d, err := openDWARF(f.image, f.image, x)
			if err != nil {
				t.Fatal(err)
			}
			d.warn = x.warn
			if f.splits != nil {
				d.splits = f.splits(mod)
			}
			if f.supplement != nil {
				if shared, err := openDWARF(f.supplement, f.image, x); err == nil {
					shared.code, shared.warn = nil, d.warn
					d.supplement = func() *debugInfo { return shared }
				}
			}
			x.opened, x.info, mod.info = true, d, x
		})
	}
	return s, target.NewModules([]*target.Module{m}, nil)
}

// check asks for all the code, forwards and backwards. The answer for an address does not depend on
// earlier questions, unless the file has used up its bound.
func (f *fuzzed) check(t testing.TB) (lines, inlined int) {
	const asked = 16
	step := f.size / asked
	s, ms := f.open(t)
	var forwards [asked][]Location
	for i := range forwards {
		pc := uint64(smallCode + i*step)
		list := s.Locate(ms, pc)
		for j, l := range list {
			if l.Inline != (j < len(list)-1) || l.Function != "" && l.Start+l.Offset != pc || l.Line < 0 {
				t.Fatalf("%#x: %+v", pc, list)
			}
			if l.Line > 0 {
				lines++
			}
		}
		if len(list) == 0 {
			t.Fatalf("%#x: nothing", pc)
		}
		inlined += len(list) - 1
		forwards[i] = list
		s.FrameBase(ms, pc, State{Register: func(r trad.Reg) (uint64, bool) { return uint64(r), true }, Memory: target.NoMemory})
		if to, _ := s.SkipPrologue(ms, pc, amd64.Arch, nil); to < pc {
			t.Fatalf("%#x: the prologue ends at %#x", pc, to)
		}
	}
	tailCalls(t, s, ms)
	for i := range forwards {
		scopes(s, ms, uint64(smallCode+i*step))
	}
	if len(s.Warnings(ms.All()[0])) > 0 {
		return lines, inlined
	}
	s, other := f.open(t)
	for i := len(forwards) - 1; i >= 0; i -= 3 {
		pc := uint64(smallCode + i*step)
		list := s.Locate(other, pc)
		for j := range list {
			list[j].Module = ms.All()[0]
		}
		if !reflect.DeepEqual(list, forwards[i]) && len(s.Warnings(other.All()[0])) == 0 {
			t.Fatalf("%#x: %+v, asked from the end on %+v", pc, forwards[i], list)
		}
	}
	return lines, inlined
}

// scopes reads all entries of the scopes at pc, and what those refer to.
func scopes(s *Symbolizer, ms *target.Modules, pc uint64) {
	const most = 200
	seen := map[Ref]bool{}
	var read func(e *Entry)
	read = func(e *Entry) {
		if seen[e.Ref] || len(seen) == most {
			return
		}
		seen[e.Ref] = true
		e.Prefix()
		e.Language()
		for _, a := range e.attrs {
			e.Text(a.attr)
			e.Address(a.attr)
			e.Block(a.attr)
			e.Expression(a.attr, pc)
			if to, err := s.Entry(e.Reference(a.attr)); err == nil {
				read(to)
			}
		}
		kids, _ := e.Children()
		for _, k := range kids {
			read(k)
		}
	}
	list, _, _ := s.Scopes(ms, pc)
	for _, x := range list {
		read(x.Entry)
	}
}

// dwarfMemory bounds the memory that DWARF of some bytes may take. Strings are written out for each
// function that has one, and debug/elf reads tables of headers in pieces of 10 MiB.
func dwarfMemory(parts ...[]byte) int {
	n := 24 << 20
	for _, p := range parts {
		n += 200 * len(p)
	}
	return n
}

// Options of FuzzDWARF's programs.
const (
	fuzzBig = 1 << iota
	fuzzPacked
)

// withoutUnitRanges renames the attributes by which the first abbreviation, a unit's, says which
// code the unit has.
func withoutUnitRanges(abbrevs []byte) []byte {
	const header, unassigned = 3, 0x07
	list := bytes.Clone(abbrevs)
	for at := header; list[at] != 0; at += 2 { // each attribute and each form has one byte
		switch dwarf.Attr(list[at]) {
		case dwarf.AttrRanges, dwarf.AttrLowpc, dwarf.AttrHighpc:
			list[at] = unassigned
		}
	}
	return list
}

// FuzzDWARF changes the contents of the sections of debug information.
func FuzzDWARF(f *testing.F) {
	names := []string{".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str", ".debug_str_offsets", ".debug_addr", ".debug_rnglists", ".debug_ranges", ".debug_aranges", ".debug_loc", ".debug_loclists"}
	build := func(t testing.TB, options uint8, parts ...[]byte) *elfimage.Image {
		var sections []elftest.Section
		for i, p := range parts {
			s := elftest.Section{Name: names[i], Data: p}
			if options&fuzzPacked != 0 && i < 4 {
				s = packed(s, options&fuzzBig != 0)
			}
			if len(p) > 0 {
				sections = append(sections, s)
			}
		}
		return openImage(t, program(options&fuzzBig != 0, sections...).Bytes())
	}
	for _, name := range []string{"small/c5", "small/c4", "small/c2", "small/c5-64", "small/c5-zlib", "small/cxx5", "small/cxx4-types", "small/s390x5", "small/s390x4", "small/common4", "small/tails5", "small/tails4", "small/params", "split/program"} {
		file := elfOf(f, fixture(f, name))
		parts := sectionsOf(f, file, names...)
		size := int(file.Section(".text").Size)
		options := uint8(0)
		if file.Data == elf.ELFDATA2MSB {
			options = fuzzBig
		}
		for range 2 {
			if lines, _ := (&fuzzed{size: size, image: build(f, options, parts...)}).check(f); lines == 0 {
				f.Fatalf("%s: no lines", name)
			}
			f.Add(options, uint16(size), parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], parts[7], parts[8], parts[9])
			options |= fuzzPacked
		}
		if name != "small/c4" && name != "small/c5" {
			continue
		}
		parts[1], parts[9] = withoutUnitRanges(parts[1]), nil
		if lines, _ := (&fuzzed{size: size, image: build(f, 0, parts...)}).check(f); lines == 0 {
			f.Fatalf("%s: no lines, if the unit does not say which code it has", name)
		}
		f.Add(uint8(0), uint16(size), parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], parts[7], parts[8], parts[9])
	}
	f.Fuzz(func(t *testing.T, options uint8, size uint16, info, abbrev, line, str, lineStr, strOffsets, addr, rngLists, ranges, aranges []byte) {
		in := fuzzed{size: int(size) % smallSize, image: build(t, options, info, abbrev, line, str, lineStr, strOffsets, addr, rngLists, ranges, aranges)}
		bounds.Hold(t, dwarfMemory(info, abbrev, line, str, lineStr, strOffsets, addr, rngLists, ranges, aranges), func() { in.check(t) })
	})
}

// FuzzSplit changes the contents of the sections of a .dwo file, or of a package of such files with
// its index. The skeletons are a real program's.
func FuzzSplit(f *testing.F) {
	names := []string{".debug_info.dwo", ".debug_abbrev.dwo", ".debug_str.dwo", ".debug_str_offsets.dwo", ".debug_rnglists.dwo", ".debug_cu_index"}
	main := openImage(f, fixture(f, "split/program"))
	read := func(t testing.TB, info, abbrev, str, strOffsets, rngLists, index []byte) (lines, inlined int) {
		file := elftest.File{Machine: elf.EM_X86_64}
		for i, p := range [][]byte{info, abbrev, str, strOffsets, rngLists, index} {
			if len(p) > 0 {
				file.Sections = append(file.Sections, elftest.Section{Name: names[i], Data: p})
			}
		}
		image := openImage(t, file.Bytes())
		in := fuzzed{size: 0x140, image: main, splits: func(mod *elfModule) func(name, dir string, id uint64) iter.Seq[*splitFile] {
			if len(index) > 0 {
				p, err := openPackage("/hostile.dwp", image, mod.splits.kept)
				return func(_, _ string, id uint64) iter.Seq[*splitFile] {
					return func(yield func(*splitFile) bool) {
						if err == nil {
							if f := p.find(id); f != nil {
								yield(f)
							}
						}
					}
				}
			}
			one, err := openSplitFile(image, mod.splits.kept)
			return func(string, string, uint64) iter.Seq[*splitFile] {
				return func(yield func(*splitFile) bool) {
					if err == nil {
						yield(one)
					}
				}
			}
		}}
		return in.check(t)
	}
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "program"), fixture(f, "split/program"), 0o777); err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"program.dwp", "one.dwo", "two.dwo"} {
		p := sectionsOf(f, elfOf(f, fixture(f, "split/"+name)), names...)
		if lines, inlined := read(f, p[0], p[1], p[2], p[3], p[4], p[5]); lines < 10 || inlined < 5 && name != "two.dwo" {
			f.Fatalf("%s: %d lines, %d inlined calls", name, lines, inlined)
		}
		f.Add(p[0], p[1], p[2], p[3], p[4], p[5])
		// As a file on disk it is found, and gives the same answers.
		if inlined := locateSplit(f, dir, name, fixture(f, "split/"+name)); inlined < 5 && name != "two.dwo" {
			f.Fatalf("%s: %d inlined calls in the file", name, inlined)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, info, abbrev, str, strOffsets, rngLists, index []byte) {
		bounds.Hold(t, dwarfMemory(info, abbrev, str, strOffsets, rngLists, index), func() {
			read(t, info, abbrev, str, strOffsets, rngLists, index)
		})
	})
}

// FuzzShared changes a file of the kind dwz makes, which several files have in common.
func FuzzShared(f *testing.F) {
	names := []string{".debug_info", ".debug_abbrev", ".debug_str", ".debug_line"}
	mains := []*elfimage.Image{openImage(f, fixture(f, "small/common4")), openImage(f, fixture(f, "small/common5"))}
	read := func(t testing.TB, five bool, info, abbrev, str, line []byte) (lines, inlined int) {
		file := elftest.File{Machine: elf.EM_X86_64}
		for i, p := range [][]byte{info, abbrev, str, line} {
			file.Sections = append(file.Sections, elftest.Section{Name: names[i], Data: p})
		}
		in := fuzzed{size: 0x60, image: mains[0], supplement: openImage(t, file.Bytes())}
		if five {
			in.image = mains[1]
		}
		return in.check(t)
	}
	for i, name := range []string{"shared4", "shared5"} {
		p := sectionsOf(f, elfOf(f, fixture(f, "small/"+name)), names...)
		if lines, inlined := read(f, i == 1, p[0], p[1], p[2], p[3]); lines < 5 || inlined == 0 {
			f.Fatalf("%s: %d lines, %d inlined calls", name, lines, inlined)
		}
		f.Add(i == 1, p[0], p[1], p[2], p[3])
	}
	f.Fuzz(func(t *testing.T, five bool, info, abbrev, str, line []byte) {
		bounds.Hold(t, dwarfMemory(info, abbrev, str, line), func() { read(t, five, info, abbrev, str, line) })
	})
}
