//go:build linux

package symbol

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/interval"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/target"
)

// callAbbrevs are abbreviations: 1 a unit with lines, 2 a function with calls in it, 3 and 4 an
// inlined call without and with others, 5 an abstract function, 6 a function with a list of ranges,
// 7 a function.
var callAbbrevs = []byte{
	1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0x10, 0x17, 0, 0,
	2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0,
	3, 0x1d, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x58, 0x0b, 0x59, 0x05, 0, 0,
	4, 0x1d, 1, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x58, 0x0b, 0x59, 0x05, 0, 0,
	5, 0x2e, 0, 0x03, 0x08, 0, 0,
	6, 0x2e, 0, 0x03, 0x08, 0x55, 0x17, 0, 0,
	7, 0x2e, 0, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0,
	0,
}

const (
	callsCode = uint64(0x400000)
	callsSize = uint64(1 << 20)
	calledAt  = uint32(unitHeader4 + 1 + 8 + 8 + 4) // offset of the abstract function in the unit
)

// callsIn returns a unit with a function "f" that has all code, with entries in it.
func callsIn(entries []byte) []byte {
	b := new(dwarfBytes).put(5, "o", 2, "f", callsCode, uint32(callsSize))
	b.Write(entries)
	return madeUpUnit(callsCode, callsSize, b.put(0, 0).Bytes())
}

func openCalls(t *testing.T, sections ...elftest.Section) (*Symbolizer, *target.Modules) {
	t.Helper()
	f := &elftest.File{Machine: elf.EM_X86_64, Type: elf.ET_EXEC, Sections: append([]elftest.Section{
		{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: callsCode, Data: make([]byte, callsSize)}}, sections...)}
	return (&fuzzed{image: openImage(t, f.Bytes())}).open(t)
}

// deflated compresses a section.
func deflated(name string, data []byte) elftest.Section {
	var b bytes.Buffer
	b.Write(binary.LittleEndian.AppendUint64([]byte{1, 0, 0, 0, 0, 0, 0, 0}, uint64(len(data))))
	b.Write([]byte{1, 0, 0, 0, 0, 0, 0, 0})
	w := zlib.NewWriter(&b)
	w.Write(data)
	w.Close()
	b.Write(bytes.Repeat([]byte{0xa5}, len(data)/32)) // so that it seems in proportion
	return elftest.Section{Name: name, Flags: elf.SHF_COMPRESSED, Data: b.Bytes()}
}

// TestShared: what the functions, calls or units of a file share, or have many of, is not gone
// through anew for each address.
func TestShared(t *testing.T) {
	const n = 40000
	var side, ranges, units, lined dwarfBytes
	for i := range uint64(n) {
		side.put(3, calledAt, callsCode+callsSize/2+8*i, uint32(4), 1, uint16(5))
	}
	for i := range uint64(3 * n) {
		ranges.put(8*(3*n-i), 8*(3*n-i)+4) // from the unit's base
	}
	for i := range uint64(n / 4) {
		units.Write(madeUpUnit(callsCode+8*i, 8, new(dwarfBytes).put(7, "f", callsCode+8*i, uint32(8), 0).Bytes()))
	}
	lined.Write(units.Bytes())
	many := bytes.Clone(callAbbrevs[:len(callAbbrevs)-1])
	for i := range uint64(8 * n) {
		many = append(binary.AppendUvarint(many, 100+i), 0x2e, 0, 0x03, 0x08, 0, 0)
	}
	head := append([]byte{1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1}, bytes.Repeat([]byte("a\x00"), 10*n)...)
	line := new(dwarfBytes).put(uint16(4), uint32(len(head)), head)
	line = new(dwarfBytes).put(uint32(line.Len()), line.Bytes())
	for name, sections := range map[string][]elftest.Section{
		"calls": {{Name: ".debug_info", Data: callsIn(side.Bytes())}, {Name: ".debug_abbrev", Data: callAbbrevs}},
		"ranges": {
			{Name: ".debug_info", Data: madeUpUnit(callsCode, callsSize, []byte("\x06f\x00\x00\x00\x00\x00\x00"))},
			{Name: ".debug_abbrev", Data: callAbbrevs}, {Name: ".debug_ranges", Data: ranges.put(uint64(0), uint64(0)).Bytes()},
		},
		"abbreviations": {deflated(".debug_info", units.Bytes()), deflated(".debug_abbrev", append(many, 0))},
		"lines": {
			{Name: ".debug_info", Data: lined.Bytes()}, {Name: ".debug_abbrev", Data: callAbbrevs},
			{Name: ".debug_line", Data: line.Bytes()},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, ms := openCalls(t, sections...)
			bounds.Hold(t, 256<<20, func() {
				for addr := callsCode; addr < callsCode+callsSize; addr += 8 {
					chain := s.Locate(ms, addr+1)
					switch off := addr - callsCode; {
					case name == "calls" && off >= callsSize/2 && off < callsSize/2+8*n:
						if len(chain) != 2 || chain[0].Function != "o" || !chain[0].Inline || chain[0].Start != addr ||
							chain[1].Function != "f" || chain[1].Line != 5 {
							t.Fatalf("at %#x: %+v", addr, chain)
						}
					case name == "calls", name == "ranges" && off >= 8 && off <= 3*8*n, name == "lines" && off < 2*n:
						if len(chain) != 1 || chain[0].Function != "f" || name == "ranges" && chain[0].Start != addr {
							t.Fatalf("at %#x: %+v", addr, chain)
						}
					}
				}
			})
		})
	}
}

// TestFarAbbreviations: the first entries of units that .debug_aranges has for one address have by
// turns an abbreviation of a small table, and one far behind in a large table. To look for that
// takes too much for all of these units: a warning says so. The units are read from the last to the
// first.
func TestFarAbbreviations(t *testing.T) {
	const units, far = interval.MaxTries, 1 << 20
	small := callAbbrevs
	large := bytes.Clone(callAbbrevs[:len(callAbbrevs)-1])
	for i := range uint64(100_000) {
		large = append(binary.AppendUvarint(large, 100+i), 0x2e, 0, 0x03, 0x08, 0, 0)
	}
	large = append(binary.AppendUvarint(large, far), 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0, 0, 0)
	var info dwarfBytes
	var sets []arange
	for i := range units {
		sets = append(sets, arange{uint64(info.Len()), [][2]uint64{{callsCode, callsCode + callsSize}}})
		if i%2 == 1 {
			info.Write(madeUpUnit(callsCode, callsSize, []byte{0}))
			continue
		}
		var b dwarfBytes
		b.put(binary.AppendUvarint(nil, far), callsCode, callsSize, 7, "f", callsCode, uint32(callsSize), 0)
		info.put(uint32(unitHeader4-4+b.Len()), uint16(4), uint32(len(small)), 8).Write(b.Bytes())
	}
	s, ms := openCalls(t, elftest.Section{Name: ".debug_info", Data: info.Bytes()}, elftest.Section{Name: ".debug_abbrev", Data: slices.Concat(small, large)},
		elftest.Section{Name: ".debug_aranges", Data: arangesSection(sets)})
	s.Locate(ms, callsCode+16)
	m := ms.All()[0]
	lost := 0
	for _, err := range s.Warnings(m) {
		if errors.Is(err, errTooMuch) && strings.Contains(err.Error(), "read unit at offset 0x0 ") {
			lost++
		}
	}
	if lost != 1 {
		t.Errorf("%d warnings say that the first unit is not read: %v", lost, s.Warnings(m))
	}
}

// TestDeepCalls: of calls that are inlined deeper than any compiler's, the outer ones are shown,
// each with its line.
func TestDeepCalls(t *testing.T) {
	var calls dwarfBytes
	for i := range 1000 {
		calls.put(4, calledAt, callsCode, uint32(callsSize), 1, uint16(i+1))
	}
	calls.Write(make([]byte, 1000))
	s, ms := openCalls(t, elftest.Section{Name: ".debug_info", Data: callsIn(calls.Bytes())},
		elftest.Section{Name: ".debug_abbrev", Data: callAbbrevs})
	chain := s.Locate(ms, callsCode)
	if len(chain) != maxInlined {
		t.Fatalf("%d", len(chain))
	}
	for i, l := range chain { // a call stands in the line in which the one inside it is called
		if want := maxInlined - i; l.Line != want || l.Inline != (i < maxInlined-1) {
			t.Fatalf("%d: %+v, want line %d", i, l, want)
		}
	}
	if said := fmt.Sprint(s.Warnings(ms.All()[0])); strings.Count(said, "inlined more than 256 deep") != 1 {
		t.Error(said)
	}
}

// TestManyScopes: what is read to find the scopes of addresses has a bound, and so have the entries
// of one function.
func TestManyScopes(t *testing.T) {
	const n = 1000
	var calls dwarfBytes
	for i := range uint64(n) {
		calls.put(3, calledAt, callsCode+callsSize/2+8*i, uint32(4), 1, uint16(5))
	}
	abbrevs := elftest.Section{Name: ".debug_abbrev", Data: callAbbrevs}
	s, ms := openCalls(t, elftest.Section{Name: ".debug_info", Data: callsIn(calls.Bytes())}, abbrevs)
	s.tables(ms.All()[0]).elf.dwarf().ask(func(d *debugInfo) { d.scopesLeft.Store(5 * n / 2) })
	known := 0
	for i := range uint64(100) {
		list, _, err := s.Scopes(ms, callsCode+i)
		if err == nil && len(list) == 1 && len(list[0].Others) == n {
			known++
		} else if !errors.Is(err, errTooMuch) {
			t.Errorf("%d scopes, %v", len(list), err)
		}
	}
	if known != 2 {
		t.Errorf("%d addresses are known, want 2", known)
	}
	if said := fmt.Sprint(s.Warnings(ms.All()[0])); strings.Count(said, "variables of some functions are left out") != 1 {
		t.Error(said)
	}
	s, ms = openCalls(t, elftest.Section{Name: ".debug_info", Data: callsIn(bytes.Repeat([]byte{5, 'o', 0}, maxScopeEntries+1))}, abbrevs)
	if list, _, err := s.Scopes(ms, callsCode); err == nil || !strings.Contains(err.Error(), "more than 131072 entries") {
		t.Errorf("%d scopes, %v", len(list), err)
	}
}

// TestInlinedAt: where functions have many calls or ranges, the same ones are found as by going
// through all.
func TestInlinedAt(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 4))
	for range 50 {
		b := new(body)
		n := 20 + random.IntN(3*fewCalls)
		for i := range n {
			f := function{inline: i > 0 && random.IntN(8) > 0, end: int32(i + 1), from: int32(len(b.ranges))}
			for range 1 + random.IntN(2)*random.IntN(2*fewRanges) {
				lo := random.Uint64N(2000)
				b.ranges = append(b.ranges, [2]uint64{lo, lo + 1 + random.Uint64N(20)})
			}
			f.to = int32(len(b.ranges))
			b.functions = append(b.functions, f)
		}
		b.functions[0].end = int32(n)
		var want [2050]int
		for addr := range want {
			want[addr] = slices.IndexFunc(b.functions, func(f function) bool {
				return f.inline && slices.ContainsFunc(b.rangesOf(&f), func(r [2]uint64) bool {
					return uint64(addr) >= r[0] && uint64(addr) < r[1]
				})
			})
		}
		for i := range b.functions {
			b.sortRanges(&b.functions[i])
		}
		b.indexCalls()
		for addr, want := range want {
			if got := b.inlinedAt(0, uint64(addr)); got != want {
				t.Fatalf("of %d, at %d there is %d, want %d", n, addr, got, want)
			}
		}
	}
}
