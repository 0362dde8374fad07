package cfi_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/format/pages"
	"github.com/sfwalk/sfwalk/trad"
)

// machine is what the tests must know about an architecture, such as the names
// that readelf gives to registers.
type machine struct {
	abi   cfi.ABI
	names []string
}

func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(prefix, i))
	}
	return names
}

var machines = map[elf.Machine]machine{
	elf.EM_X86_64: {cfi.ABI{FP: 6}, append(strings.Fields("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip"), numbered("xmm", 16)...)},
	elf.EM_386:    {cfi.ABI{FP: 5}, strings.Fields("eax ecx edx ebx esp ebp esi edi eip eflags")},
	elf.EM_AARCH64: {cfi.ABI{FP: 29, PAuth: true}, append(append(append(numbered("x", 31), "sp"),
		strings.Fields("? elr ra_sign_state ? ? ? ? ? ? ? ? ? ? ? vg ffr p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 p14 p15")...), numbered("v", 32)...)},
	elf.EM_S390: {cfi.ABI{FP: 11}, append(numbered("r", 16),
		strings.Fields("f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15")...)},
}

// input is a section of an ELF file, with the arguments to open it.
type input struct {
	machine
	kind cfi.Kind
	data []byte
	addr uint64
	opts cfi.Options
	// paged says that the section and its header are read page by page.
	paged bool
}

// load reads a section. withHeader says whether to use .eh_frame_hdr.
func load(t testing.TB, path, name string, withHeader bool) input {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := input{machine: machines[f.Machine]}
	if in.names == nil {
		t.Fatalf("%s: no register names for %v", path, f.Machine)
	}
	in.opts.ABI = in.abi
	in.opts.Order, in.opts.PtrSize = f.ByteOrder, 8
	if f.Class == elf.ELFCLASS32 {
		in.opts.PtrSize = 4
	}
	read := func(name string) ([]byte, uint64) {
		sec := f.Section(name)
		if sec == nil {
			t.Fatalf("%s has no %s", path, name)
		}
		data, err := sec.Data()
		if err != nil {
			t.Fatal(err)
		}
		return data, sec.Addr
	}
	if withHeader {
		in.opts.Header, in.opts.HeaderAddr = read(".eh_frame_hdr")
	}
	if name == ".debug_frame" {
		in.kind = cfi.Debug
	}
	in.data, in.addr = read(name)
	return in
}

func (in input) open(t testing.TB) *cfi.Section {
	t.Helper()
	data, opts := pages.Of(in.data), in.opts
	if in.paged {
		data = pages.New(bytes.NewReader(in.data), len(in.data))
		opts.HeaderPages, opts.Header = pages.New(bytes.NewReader(opts.Header), len(opts.Header)), nil
	}
	s, err := cfi.OpenPages(in.kind, data, in.addr, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// cell renders a rule as readelf does.
func (m machine) cell(r trad.Rule) string {
	switch r.Kind {
	case trad.NotTracked, trad.Undefined:
		return "u"
	case trad.Same:
		return "s"
	case trad.Saved:
		return fmt.Sprintf("c%+d", r.Off)
	case trad.Value:
		return fmt.Sprintf("v%+d", r.Off)
	case trad.InReg:
		return fmt.Sprint("r", r.Reg)
	case trad.Expr:
		return "exp"
	case trad.ValExpr:
		return "vexp"
	}
	return fmt.Sprint(r)
}

// differs compares a row to readelf's. It returns the first difference, or "".
func (m machine) differs(row trad.Row, ra trad.Reg, want oracleRow) string {
	if row.Lo != want.lo || row.Lo+uint64(row.Len) != want.hi {
		return fmt.Sprintf("range %#x..%#x, want %#x..%#x", row.Lo, row.Lo+uint64(row.Len), want.lo, want.hi)
	}
	cfa := "exp"
	if row.CFA.Kind == trad.InReg {
		cfa = fmt.Sprintf("%s%+d", m.names[row.CFA.Reg], row.CFA.Off)
	} else if row.CFA.Kind != trad.ValExpr {
		cfa = fmt.Sprint(row.CFA)
	}
	if cfa != want.cfa {
		return fmt.Sprintf("CFA %s, want %s", cfa, want.cfa)
	}
	got := map[string]string{"ra": m.cell(row.RA), m.names[m.abi.FP]: m.cell(row.FP)}
	if row.Others == nil || row.Others.Default != trad.Same {
		return "unlisted registers are not the same"
	}
	for i, r := range row.Others.Regs {
		if i > 0 && r.Reg <= row.Others.Regs[i-1].Reg {
			return fmt.Sprintf("registers are out of order: %v", row.Others.Regs)
		}
		got[m.names[r.Reg]] = m.cell(r.Rule)
	}
	for name, cell := range got {
		w, listed := want.cells[name]
		if !listed || w == "n" {
			w = "u"
		}
		// readelf's u is both "undefined" and "nothing said", which is Same.
		if cell != w && !(w == "u" && cell == "s") {
			return fmt.Sprintf("%s is %s, want %s", name, cell, w)
		}
		if (name == "ra" || name == m.names[m.abi.FP]) && w == "u" && cell != "s" && cell != "u" {
			return fmt.Sprintf("%s is %s, want none", name, cell)
		}
	}
	for name, w := range want.cells {
		if _, ok := got[name]; !ok && w != "u" && w != "n" {
			return fmt.Sprintf("%s is not listed, want %s", name, w)
		}
	}
	return ""
}

// oracle is the content of readelf's two dumps of a section.
type oracle struct {
	fdes     []oracleFDE
	programs map[uint64]*program
}

func parseOracle(t testing.TB, interp, frames string) oracle {
	t.Helper()
	return oracle{parseInterp(t, interp), parseFrames(t, frames)}
}

// compare compares a section with readelf's dumps of it.
func compare(t *testing.T, in input, o oracle) {
	t.Helper()
	s, m := in.open(t), in.machine
	want, programs := o.fdes, o.programs
	if len(want) == 0 || len(programs) != len(want) {
		t.Fatalf("readelf shows %d and %d FDEs", len(want), len(programs))
	}
	rows, bad, i := 0, 0, 0
	fail := func(format string, args ...any) {
		t.Helper()
		if bad++; bad > 10 {
			t.Fatal("more follow")
		}
		t.Errorf(format, args...)
	}
	overlaps := overlapping(want)
	for f, err := range s.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		if i == len(want) {
			t.Fatalf("more than readelf's %d FDEs", len(want))
		}
		w := want[i]
		i++
		if uint64(f.Offset) != w.offset || f.Start != w.start || f.Start+f.Len != w.end ||
			s.Augmentation(&f.CIE) != w.aug || f.CIE.CodeAlign != uint64(w.code) || f.CIE.DataAlign != w.data || int(f.CIE.Version) != programs[w.offset].version || int(f.CIE.RA) != w.ra {
			fail("FDE %+v, want %+v", f, w)
			continue
		}
		if f.CIE.Signal != strings.Contains(w.aug, "S") || f.CIE.KeyB != strings.Contains(w.aug, "B") {
			fail("FDE at %#x: flags of %q: %+v", f.Offset, w.aug, f.CIE)
		}
		p := programs[w.offset]
		expressions := map[string]bool{}
		outermost := false
		n := 0
		for row, err := range s.Rows(f) {
			if err != nil {
				fail("%v", err)
				break
			}
			if n >= len(w.rows) {
				fail("FDE at %#x: more than %d rows", f.Offset, len(w.rows))
				break
			}
			if d := m.differs(row, f.CIE.RA, w.rows[n]); d != "" {
				fail("FDE at %#x, row at %#x: %s", f.Offset, row.Lo, d)
			}
			if signed, ok := p.signed[row.Lo]; !ok || signed != (row.Flags&trad.MangledRA != 0) {
				fail("FDE at %#x, row at %#x: flags %v, want signed %v", f.Offset, row.Lo, row.Flags, signed)
			}
			if f.CIE.Signal != (row.Flags&trad.Signal != 0) {
				fail("FDE at %#x, row at %#x: flags %v", f.Offset, row.Lo, row.Flags)
			}
			outermost = outermost || row.Flags&trad.Outermost != 0
			collect(expressions, row, m, f.CIE.RA)
			n++
			rows++
			if overlaps[row.Lo] {
				continue
			}
			for _, pc := range []uint64{row.Lo, row.Lo + uint64(row.Len) - 1} {
				one, found, err := s.Row(pc)
				if err != nil || found.Offset != f.Offset || !sameRow(one, row) {
					fail("Row(%#x) = %+v of FDE at %#x, %v; want %+v of %#x", pc, one, found.Offset, err, row, f.Offset)
				}
			}
		}
		if n != len(w.rows) {
			fail("FDE at %#x: %d rows, want %d", f.Offset, n, len(w.rows))
		}
		if outermost != p.undefined[int(f.CIE.RA)] {
			fail("FDE at %#x: outermost is %v", f.Offset, outermost)
		}
		if !reflect.DeepEqual(expressions, p.expressions) {
			fail("FDE at %#x: expressions %v, want %v", f.Offset, expressions, p.expressions)
		}
	}
	if i != len(want) {
		t.Errorf("%d FDEs, want %d", i, len(want))
	}
	t.Logf("%d FDEs, %d rows", i, rows)
}

// overlapping returns the starts of lines in FDEs that share code with another. More than one
// answer is right for them.
func overlapping(fdes []oracleFDE) map[uint64]bool {
	starts := map[uint64]int{}
	for _, f := range fdes {
		if f.start < f.end {
			starts[f.start]++
		}
	}
	shared := map[uint64]bool{}
	for _, f := range fdes {
		if starts[f.start] > 1 {
			for _, r := range f.rows {
				shared[r.lo] = true
			}
		}
	}
	return shared
}

func sameRow(a, b trad.Row) bool {
	x, y := a.Others, b.Others
	a.Others, b.Others = nil, nil
	return a == b && (x == y || reflect.DeepEqual(x, y))
}

// collect adds the expressions of a row in the form that parseFrames gives.
func collect(all map[string]bool, row trad.Row, m machine, ra trad.Reg) {
	add := func(what string, r trad.Rule) {
		if r.Kind == trad.ValExpr && what != "cfa" {
			what = "val" + what
		}
		if r.Kind == trad.Expr || r.Kind == trad.ValExpr {
			all[what+" "+row.Others.Exprs[r.Off].String()] = true
		}
	}
	add("cfa", row.CFA)
	add(fmt.Sprint("r", ra), row.RA)
	add(fmt.Sprint("r", m.abi.FP), row.FP)
	for _, r := range row.Others.Regs {
		add(fmt.Sprint("r", r.Reg), r.Rule)
	}
}
