package fromelf

import (
	"bufio"
	"debug/elf"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch/arm"
	"github.com/sfwalk/sfwalk/format/breakpad"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/exidx"
	"github.com/sfwalk/sfwalk/trad"
)

// ptARMExidx is PT_ARM_EXIDX, the segment that is .ARM.exidx (ELF for the Arm Architecture).
const ptARMExidx = elf.ProgType(0x70000001)

// maxEHABI bounds the code of a function whose table is written, in bytes.
const maxEHABI = 64 << 10

// writeEHABI writes the exception tables of 32-bit Arm as STACK CFI records, for code that call
// frame information does not cover. The tables are true where a call has left a function; while it
// sets its frame up or takes it down, its code decides. Where neither is certain, there is no
// record.
func (d *Dump) writeEHABI(w *bufio.Writer, covered []breakpad.Range) error {
	im := d.image
	data, addr, err := im.Segment(ptARMExidx)
	if err != nil {
		if data, addr, err = im.Section(".ARM.exidx"); err != nil {
			return nil // there is none
		}
	}
	s, err := exidx.Open(data, addr, im.Order, func(addr uint64, p []byte) (int, error) { return im.ReadLoaded(addr, p), nil })
	if err != nil {
		d.warn(nil, err)
		return nil
	}
	sort.Slice(covered, func(i, j int) bool { return covered[i].Address < covered[j].Address })
	free := func(addr uint64) (end uint64, ok bool) { // up to where no call frame information is
		i := sort.Search(len(covered), func(i int) bool { return covered[i].Address > addr })
		if i > 0 && covered[i-1].Contains(addr) {
			return 0, false
		}
		if i < len(covered) {
			return covered[i].Address, true
		}
		return 1 << 32, true
	}
	starts := d.functionStarts()
	t := rowTranslator{pieces: pieces{d: d}, names: d.arch.Breakpad.Registers()}
	left := 1<<20 + 16*int(min(im.SizeOnDisk(), 1<<31)) // bytes of code that are read: entries may cover the same
	for e := range s.Entries() {
		u, err := s.Unwind(e)
		if err != nil {
			continue // it cannot be unwound, or not by us
		}
		row, err := u.Row()
		if err != nil || row.CFA.Kind != trad.InReg {
			continue
		}
		for lo := e.Lo; lo < e.Hi && d.holds(lo); {
			hi := e.Hi
			if i := sort.Search(len(starts), func(i int) bool { return starts[i] > lo }); i < len(starts) {
				hi = min(hi, starts[i])
			}
			end, ok := free(lo)
			// Linkers join the entries of functions that follow one another only if they are equal
			// and inline.
			if ok && (lo == e.Lo || e.Inline) && min(hi, end)-lo <= maxEHABI {
				code := make([]byte, min(hi, end)-lo)
				code = code[:im.ReadLoaded(lo, code)]
				if left -= len(code); left < 0 {
					d.warn(nil, errTooMany)
					return nil
				}
				t.function(code, lo, &row)
				if _, err := w.Write(t.out); err != nil {
					return err
				}
			}
			lo = hi
		}
	}
	return nil
}

// functionStarts returns where functions begin, by the files' symbols, ascending.
func (d *Dump) functionStarts() (starts []uint64) {
	for _, im := range []*elfimage.Image{d.image, d.debug} {
		if im == nil {
			continue
		}
		for symbols, i := im.Symbols(), 0; i < symbols.Len(); i++ {
			starts = append(starts, symbols.At(i).Addr)
		}
	}
	slices.Sort(starts)
	return starts
}

// rowTranslator writes rows of functions as STACK CFI records.
type rowTranslator struct {
	pieces
	names []string

	last trad.Row
	now  []namedRule // of the last row, by name
}

// function writes the rows of one function whose code begins at lo. table is its row where calls
// leave it.
func (t *rowTranslator) function(code []byte, lo uint64, table *trad.Row) {
	t.out = t.out[:0]
	a := arm.Analyse(code, lo)
	for off := 0; off < len(code); {
		row, why := a.Row(lo, int32(off))
		n := 2
		if why == "" && row.Lo == lo+uint64(off) {
			n = max(2, int(row.Len))
		}
		use := &row
		if why != "" || row.Flags&trad.Guess != 0 {
			use = table
			if _, out := arm.Arch.ReadEpilogue(code[off:], lo+uint64(off)); out != 0 && (why != "" || !sameFrame(&row, table)) {
				use = nil
			}
		}
		t.row(use, lo+uint64(off))
		off += n
		t.reached = lo + uint64(min(off, len(code)))
	}
	t.end()
}

// sameFrame reports whether two rows find the same caller.
func sameFrame(x, y *trad.Row) bool { return x.CFA == y.CFA && x.RA == y.RA && x.FP == y.FP }

// row writes a row that holds from pc on; nil ends the record.
func (t *rowTranslator) row(row *trad.Row, pc uint64) {
	if row == nil {
		t.end()
		return
	}
	if row.Others == nil {
		row.Others = &trad.OtherRules{Default: trad.Same}
	}
	if t.begun && sameFrame(row, &t.last) && slices.Equal(row.Others.Regs, t.last.Others.Regs) {
		return
	}
	var rules []namedRule
	add := func(name string, rule trad.Rule, reg trad.Reg) bool {
		text, ok := t.rule(rule, reg)
		if ok {
			rules = append(rules, namedRule{name, text})
		}
		return ok
	}
	if !add(cfaName, row.CFA, 0) || !add(raName, row.RA, exidx.LR) {
		t.end()
		return
	}
	if row.FP.Kind != trad.Same {
		add(t.names[exidx.R11], row.FP, exidx.R11)
	}
	for _, r := range row.Others.Regs {
		if int(r.Reg) < len(t.names) && t.names[r.Reg] != "" && r.Rule.Kind != trad.Same {
			add(t.names[r.Reg], r.Rule, r.Reg)
		}
	}
	slices.SortFunc(rules, func(x, y namedRule) int { return strings.Compare(x.name, y.name) })
	if !t.begun {
		t.begun, t.from, t.init = true, pc, appendRules(t.init[:0], rules)
	} else {
		changed := rules[:0:0]
		for _, r := range rules {
			if !slices.Contains(t.now, r) {
				changed = append(changed, r)
			}
		}
		for _, r := range t.now {
			if !slices.ContainsFunc(rules, func(x namedRule) bool { return x.name == r.name }) {
				changed = append(changed, namedRule{r.name, r.name}) // as it was on entry
			}
		}
		slices.SortFunc(changed, func(x, y namedRule) int { return strings.Compare(x.name, y.name) })
		if len(changed) > 0 {
			t.body = append(appendHex(append(t.body, "STACK CFI "...), pc-t.d.load), ' ')
			t.body = append(appendRules(t.body, changed), '\n')
		}
	}
	t.last, t.now = *row, rules
}

// namedRule is a rule as it is written.
type namedRule struct{ name, text string }

func appendRules(b []byte, rules []namedRule) []byte {
	for i, r := range rules {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(append(b, r.name...), ": "...), r.text...)
	}
	return b
}

// rule returns the rule of register reg as an expression; ok is false if it has none.
func (t *rowTranslator) rule(r trad.Rule, reg trad.Reg) (text string, ok bool) {
	off := strconv.Itoa(int(r.Off))
	base := ""
	if int(r.Reg) < len(t.names) {
		base = t.names[r.Reg]
	}
	switch r.Kind {
	case trad.Same:
		return t.names[reg], true
	case trad.Saved:
		return cfaName + " " + off + " + ^", true
	case trad.Value:
		return cfaName + " " + off + " +", true
	case trad.SavedAt:
		return base + " " + off + " + ^", base != ""
	case trad.InReg:
		return base + " " + off + " +", base != ""
	}
	return "", false
}
