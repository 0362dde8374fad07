package fromelf

import (
	"bufio"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/format/cfi"
)

// writeCFI writes the STACK CFI records.
func (d *Dump) writeCFI(w *bufio.Writer) error {
	any := false
	var covered []breakpad.Range
	for section := range d.cfiSections() {
		t := newTranslator(d, section)
		for fde, err := range section.FDEs() {
			if err != nil {
				d.warn(nil, err)
				continue
			}
			if any = true; !d.covers(fde.Start) {
				continue
			}
			covered = append(covered, breakpad.Range{Address: fde.Start, Size: fde.Len})
			t.out = t.out[:0]
			if err := t.translate(&fde); err != nil {
				d.warn(nil, err)
			}
			if _, err := w.Write(t.out); err != nil {
				return err
			}
		}
	}
	switch {
	case d.opts.LikeDumpSyms:
		return nil
	case d.arch.ExceptionTables:
		return d.writeEHABI(w, covered)
	case any:
		return nil
	}
	return d.writeSFrame(w)
}

// ruleKind says what a register of PREVIOUS is.
type ruleKind uint8

const (
	unset     ruleKind = iota
	undefined          // lost
	same
	saved      // at CFA+off
	cfaPlus    // CFA+off
	inRegister // reg+off; off is 0 but for the CFA
	expression // its address is computed by expr; the CFA itself
	valExpr    // computed by expr
)

// cfaColumn stands for the CFA among register numbers.
const cfaColumn = -1

// cfiRule is a rule of call frame information.
type cfiRule struct {
	kind ruleKind
	reg  uint64
	off  int64
	expr []byte
}

func (r *cfiRule) equal(s *cfiRule) bool {
	return r.kind == s.kind && r.reg == s.reg && r.off == s.off && string(r.expr) == string(s.expr)
}

// column is the rule of one register.
type column struct {
	reg  uint64
	rule cfiRule
}

// cfiState is a line of the table: DWARF 5 section 6.4.1.
type cfiState struct {
	cfa  cfiRule
	regs []column
}

func (s *cfiState) find(reg uint64) *cfiRule {
	for i := range s.regs {
		if s.regs[i].reg == reg {
			return &s.regs[i].rule
		}
	}
	return nil
}

// copyTo copies s to t, in t's memory.
func (s *cfiState) copyTo(t *cfiState) {
	t.cfa = s.cfa
	t.regs = append(t.regs[:0], s.regs...)
}

// Bounds of what real tables need some dozens of, at most.
const (
	maxColumns = 256
	maxSaved   = 128
)

// change is a rule as it is written.
type change struct {
	name     string
	from, to int // its text in translator.text
}

// translator writes FDEs as STACK CFI records.
type translator struct {
	d       *Dump
	section *cfi.Section
	names   []string // of registers, by DWARF number
	like    bool
	pointer int // bytes
	left    int // instructions that may still be run

	cie    int // offset of the CIE that initial is of; -1 if of none
	ra     uint64
	first  cfiState   // after the CIE's instructions
	state  cfiState   // now
	stack  []cfiState // of DW_CFA_remember_state
	depth  int
	inCIE  bool
	loc    uint64
	before uint64 // loc, before the last advance
	lo, hi uint64 // the FDE's code

	arch   *arch.Arch
	thunks func(addr uint64) bool // nil if the processor has none

	changes []change
	text    []byte
	behind  uint64 // the first address behind a thunk, whose row is still to be written; 0 if none is
	begun   bool   // a record is begun at piece
	piece   uint64
	init    []byte // its initial rules
	body    []byte // its STACK CFI records
	out     []byte
}

func newTranslator(d *Dump, section *cfi.Section) *translator {
	t := &translator{d: d, section: section, like: d.opts.LikeDumpSyms, names: d.arch.Breakpad.Registers(), cie: -1, pointer: d.cfiABI(d.image).PtrSize}
	t.left = 1<<20 + 64*int(min(d.image.SizeOnDisk(), 1<<31))
	if t.arch = arch.ByMachine(d.image.Machine, d.image.Order); t.arch != nil {
		t.thunks = t.arch.Thunks(d.readCode)
	}
	return t
}

// translate appends the records of an FDE.
func (t *translator) translate(f *cfi.FDE) error {
	if f.Len == 0 && !t.like {
		return nil
	}
	initial, own := t.section.Instructions(f)
	t.lo, t.hi, t.loc, t.before, t.behind = f.Start, f.Start+f.Len, f.Start, f.Start, 0
	t.ra, t.depth = uint64(f.CIE.RA), 0
	t.begun, t.init, t.body, t.changes, t.text = false, t.init[:0], t.body[:0], t.changes[:0], t.text[:0]
	if t.ra < uint64(len(t.names)) {
		t.record(raName, t.names[t.ra])
	}
	t.state.cfa, t.state.regs = cfiRule{}, t.state.regs[:0]
	t.inCIE = true
	err := t.run(&f.CIE, initial)
	t.inCIE = false
	t.state.copyTo(&t.first)
	if err == nil {
		err = t.run(&f.CIE, own)
	}
	t.row(t.hi)
	t.end(t.hi)
	if err != nil {
		err = fmt.Errorf("FDE at offset %#x, of code at %#x: %w", f.Offset, f.Start, err)
	}
	return err
}

// row writes the changes of the row that ends at next.
func (t *translator) row(next uint64) {
	defer func() { t.changes, t.text = t.changes[:0], t.text[:0] }()
	if t.like {
		switch {
		case t.loc == t.lo:
			t.begun, t.piece = true, t.lo
			t.init = t.append(t.init)
		case len(t.changes) > 0:
			t.body = t.change(t.body)
		}
		return
	}
	if t.loc >= t.hi || next <= t.loc {
		return
	}
	if !t.known() {
		t.end(t.loc) // what no record can say is left out
		return
	}
	switch {
	case !t.begun:
		if t.loc > t.lo {
			t.all()
		}
		t.begun, t.piece, t.behind = true, t.loc, 0
		t.init = t.append(t.init)
	case t.behind > 0:
		if addr := max(t.loc, t.behind); addr < next {
			t.whole(addr)
			t.behind = 0
		}
	case len(t.changes) > 0:
		t.body = t.change(t.body)
	}
}

// known reports whether the CFA's rule can be written.
func (t *translator) known() bool {
	switch t.state.cfa.kind {
	case unset:
		return false
	case valExpr:
		_, ok := t.postfix(nil, t.state.cfa.expr, "")
		return ok
	}
	return true
}

// all makes the whole row one of changes.
func (t *translator) all() {
	t.changes, t.text = t.changes[:0], t.text[:0]
	if t.ra < uint64(len(t.names)) {
		t.record(raName, t.names[t.ra])
	}
	t.handle(cfaColumn, &t.state.cfa)
	for i := range t.state.regs {
		c := &t.state.regs[i]
		t.handle(int64(c.reg), &c.rule)
	}
}

// end ends the record at an address.
func (t *translator) end(at uint64) {
	if !t.begun {
		return
	}
	t.d.CFI++
	b := append(t.out, "STACK CFI INIT "...)
	b = append(appendHex(b, t.piece-t.d.load), ' ')
	b = append(appendHex(b, at-t.piece), ' ')
	b = append(append(b, t.init...), '\n')
	t.out = append(b, t.body...)
	t.begun, t.init, t.body = false, t.init[:0], t.body[:0]
}

// change appends a STACK CFI record.
func (t *translator) change(b []byte) []byte { return t.changeAt(b, t.loc) }

// changeAt appends a STACK CFI record for an address.
func (t *translator) changeAt(b []byte, addr uint64) []byte {
	b = append(appendHex(append(b, "STACK CFI "...), addr-t.d.load), ' ')
	return append(t.append(b), '\n')
}

// append appends the changes by the names of their registers.
func (t *translator) append(b []byte) []byte {
	list := t.changes
	for i := 1; i < len(list); i++ { // there are few
		for j := i; j > 0 && list[j].name < list[j-1].name; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	for i, c := range list {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(append(b, c.name...), ": "...), t.text[c.from:c.to]...)
	}
	return b
}

const (
	cfaName = ".cfa"
	raName  = ".ra"
)

// record notes a rule.
func (t *translator) record(name, text string) {
	from := len(t.text)
	t.text = append(t.text, text...)
	t.note(name, from)
}

// note notes the rule whose text begins at from, and replaces an earlier one.
func (t *translator) note(name string, from int) {
	for i := range t.changes {
		if t.changes[i].name == name {
			t.changes[i].from, t.changes[i].to = from, len(t.text)
			return
		}
	}
	t.changes = append(t.changes, change{name, from, len(t.text)})
}

// column returns the name of a register as a rule's own.
func (t *translator) column(reg int64) string {
	if reg == cfaColumn {
		return cfaName
	}
	if uint64(reg) == t.ra {
		return raName
	}
	return t.register(uint64(reg))
}

// register returns the name of a register of THIS.
func (t *translator) register(reg uint64) string {
	if reg < uint64(len(t.names)) && t.names[reg] != "" {
		return t.names[reg]
	}
	return fmt.Sprintf("unnamed_register%d", reg)
}

// source returns the name of a register of THIS in a rule. dump_syms calls the return address's
// register .ra, which has no value.
func (t *translator) source(reg uint64) string {
	if t.like && reg == t.ra {
		return raName
	}
	return t.register(reg)
}

// handle notes the rule of a register, or of the CFA, if it can be written.
func (t *translator) handle(reg int64, r *cfiRule) {
	from := len(t.text)
	switch r.kind {
	case same:
		if reg == cfaColumn {
			return
		}
		t.text = append(t.text, t.source(uint64(reg))...)
	case saved:
		t.text = appendInt(append(t.text, ".cfa "...), r.off)
		t.text = append(t.text, " + ^"...)
	case cfaPlus:
		t.text = appendInt(append(t.text, ".cfa "...), r.off)
		t.text = append(t.text, " +"...)
	case inRegister:
		t.text = append(t.text, t.source(r.reg)...)
		if reg == cfaColumn {
			t.text = append(appendInt(append(t.text, ' '), r.off), " +"...)
		}
	case expression, valExpr:
		if t.like {
			return
		}
		text, ok := t.postfix(t.text, r.expr, "")
		if !ok && reg != cfaColumn { // it may use the CFA, which is on its stack
			text, ok = t.postfix(text[:from], r.expr, cfaName)
		}
		if !ok {
			t.text = text[:from]
			return
		}
		if t.text = text; r.kind == expression {
			t.text = append(t.text, " ^"...)
		}
	default:
		return
	}
	t.note(t.column(reg), from)
}
