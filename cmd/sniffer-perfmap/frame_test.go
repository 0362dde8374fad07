package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/jitdump"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/trad"
)

// codes returns the machine code in a real jitdump.
func codes(t testing.TB, name string) (list [][]byte) {
	data := testdata(t, name)
	d := &jitDump{machine: uint16(elf.EM_X86_64)}
	for _, c := range scanAll(t, d, data) {
		x, err := d.header.Record(bytes.NewReader(data), c.at)
		if err != nil {
			t.Fatal(err)
		}
		end := c.at + x.Length
		list = append(list, data[uint64(end)-(c.hi-c.lo):end])
	}
	return list
}

// This is code of arm64: with a record at the frame's end, with one in its middle, without.
var codesARM64 = [][]uint32{
	{0xa9be7bfd, 0x910003fd, 0xd63f0200, 0xa8c27bfd, 0xd65f03c0},
	{0xd100c3ff, 0xa9017bfd, 0x910043fd, 0xf90003f3, 0xd63f0200, 0xf94003f3, 0xa9417bfd, 0x9100c3ff, 0xd65f03c0},
	{0xf81f0ffe, 0xd63f0200, 0xf84107fe, 0xd65f03c0},
}

// These are the rows before, in and behind the body of a function with a record. The body's row
// holds for all of it, unless the body saves other registers.
func TestRowsARM64(t *testing.T) {
	reg := func(r trad.Reg, off int32) trad.Rule { return trad.Rule{Kind: trad.InReg, Reg: r, Off: off} }
	saved := func(off int32) trad.Rule { return trad.Rule{Kind: trad.Saved, Off: off} }
	same := trad.Rule{Kind: trad.Same}
	const fp, sp = 29, 31
	body := func(lo uint64, n uint32, cfa trad.Rule) trad.Row {
		return trad.Row{Lo: lo, Len: n, CFA: cfa, RA: saved(8 - cfa.Off), FP: saved(-cfa.Off)}
	}
	for _, tt := range []struct {
		code int
		at   uint64
		want trad.Row
	}{
		{0, 0, trad.Row{Lo: 0, Len: 4, Flags: trad.InPrologue, CFA: reg(sp, 0), RA: same, FP: same}},
		{0, 4, trad.Row{Lo: 4, Len: 4, Flags: trad.InPrologue, CFA: reg(sp, 32), RA: saved(-24), FP: saved(-32)}},
		{0, 8, body(8, 8, reg(fp, 32))},
		{0, 12, body(8, 8, reg(fp, 32))},
		{0, 16, trad.Row{Lo: 16, Len: 4, Flags: trad.InPrologue, CFA: reg(sp, 0), RA: same, FP: same}},
		{1, 16, trad.Row{Lo: 16, Len: 4, CFA: reg(sp, 48), RA: saved(-24), FP: saved(-32)}}, // x19 is saved, too
		{2, 4, trad.Row{Lo: 4, Len: 4, CFA: reg(sp, 16), RA: saved(-16), FP: same}},
	} {
		var code []byte
		for _, word := range codesARM64[tt.code] {
			code = binary.LittleEndian.AppendUint32(code, word)
		}
		row, why := readARM64.row(code, 0, tt.at, tt.at, ordinary)
		row.Others = nil
		if row != tt.want || why != "" {
			t.Errorf("code %d at %d: %+v %s, want %+v", tt.code, tt.at, row, why, tt.want)
		}
	}
}

// lent is memory that holds one piece of code.
type lent struct {
	addr uint64
	data []byte
}

func (m lent) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr < m.addr || addr-m.addr > uint64(len(m.data)) {
		return 0, plugin.ErrUnmapped
	}
	n := copy(p, m.data[addr-m.addr:])
	if n < len(p) {
		return n, plugin.ErrUnmapped
	}
	return n, nil
}

// FuzzSniff asks about any code, of any name.
func FuzzSniff(f *testing.F) {
	for _, name := range []string{"jit-node18.dump", "jit-node20.dump"} {
		for i, code := range codes(f, name) {
			code = code[:min(len(code), 160)]
			f.Add(code, uint16(i*7), false, "JS:^f /x.js:1:2", false)
			f.Add(code, uint16(len(code)/2), true, "Builtin:CEntry", false)
		}
	}
	for _, words := range codesARM64 {
		var code []byte
		for _, word := range words {
			code = binary.LittleEndian.AppendUint32(code, word)
		}
		f.Add(code, uint16(8), false, "f", true)
		f.Add(code, uint16(4), true, "py::f:/x.py", true)
	}
	f.Add([]byte{0x41, 0x5f, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0xc3}, uint16(4), true, "Builtin:BaselineOutOfLinePrologue", false)
	f.Add([]byte{0x55, 0x48, 0x89, 0xe5, 0x90, 0xc9, 0xc3}, uint16(4), true, "f", false)
	f.Fuzz(func(t *testing.T, code []byte, off uint16, innermost bool, name string, isARM bool) {
		if len(code) > 0 {
			bounds.Hold(t, 4<<20+4096*(len(code)+len(name)), func() { checkSniff(t, code, off, innermost, name, isARM) })
		}
	})
}

func checkSniff(t *testing.T, code []byte, off uint16, innermost bool, name string, isARM bool) {
	const lo = 0x7f0000000f80 // where a page ends soon
	d := newDump(binary.LittleEndian, elf.EM_X86_64)
	d.record(uint32(jitdump.Load), uint32(1), uint32(1), uint64(lo), uint64(lo), uint64(len(code)), uint64(0), name+"\x00")
	r := readAMD64
	if isARM {
		r = readARM64
	}
	file := &memoryFile{*bytes.NewReader(d.Bytes())}
	l := &listing{file: file, format: func() format { return &jitDump{machine: uint16(elf.EM_X86_64)} }}
	s := &session{reader: r, memory: lent{lo, code}, listings: []*listing{l}, memo: new(memo)}
	q := &plugin.Query{AddressInBlock: lo + uint64(off)%uint64(len(code))}
	if isARM {
		q.AddressInBlock &^= 3
	}
	if q.PC = q.AddressInBlock; !innermost {
		q.PC++
	}
	a := s.Sniff(q)
	if a.Row == nil {
		if a.Why == "" || a.Why == unlisted {
			t.Fatalf("%+v", a)
		}
		return
	}
	row := a.Row
	if !row.Contains(q.AddressInBlock) || row.Lo < q.AddressInBlock&^4095 || row.Lo+uint64(row.Len) > q.AddressInBlock&^4095+4096 {
		t.Fatalf("asked about %#x, the row is for [%#x, %#x)", q.AddressInBlock, row.Lo, row.Lo+uint64(row.Len))
	}
	if row.CFA.Kind != trad.InReg || row.RA.Kind == trad.NotTracked || row.RA.Kind == trad.Undefined {
		t.Fatalf("%+v", row)
	}
	for _, s := range a.Symbols {
		if s.Function == "" || s.Lo >= s.Hi || s.Line < 0 {
			t.Fatalf("%+v", s)
		}
	}
	again := s.Sniff(q)
	if x, y := *again.Row, *row; x.Lo != y.Lo || x.Len != y.Len || x.CFA != y.CFA || x.RA != y.RA || x.FP != y.FP {
		t.Fatalf("first %+v, then %+v", y, x)
	}
}
