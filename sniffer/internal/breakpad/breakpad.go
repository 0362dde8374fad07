// Package breakpad is the sniffer that reads the STACK CFI and STACK WIN records of Breakpad's
// symbol files: the rows of programs whose files lack unwind tables, or are not at hand. It stands
// behind the sniffers that read a module's own tables.
//
// A register's expression that is a place stays a place: its last dereference is the row's.
// Registers that the records leave out are unchanged, as the specification says ("STACK CFI
// records").
package breakpad

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	format "github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer.
type Sniffer struct {
	Dir string // the stores of symbol files, NAME/IDENTIFIER/NAME.sym, in their order: folders, listed as in PATH
}

func (*Sniffer) Name() string { return "breakpad" }

const (
	noModule  = frame.Answer("no module is mapped at PC")
	noFile    = frame.Answer("the store has no symbol file of the module")
	badFile   = frame.Answer("the module's symbol file cannot be used")
	noRecord  = frame.Answer("no STACK CFI or STACK WIN record covers PC")
	malformed = frame.Answer("the STACK CFI record is malformed")
	noCFA     = frame.Answer("the STACK CFI record has no rules for the CFA and the return address")
	stray     = frame.Answer("the STACK CFI record has the CFA in a register that leads to no return address")
	tornDown  = frame.Answer("the STACK CFI record leaves out that the code at PC takes the frame down")
)

func (s *Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Module == nil {
		return trad.Row{}, noModule
	}
	symbols, err := symbolstore.Open(s.Dir, q.Module)
	switch {
	case err != nil:
		return trad.Row{}, badFile
	case symbols == nil:
		return trad.Row{}, noFile
	}
	return s.claim(q, symbols)
}

// claim makes a row of a module's symbols.
func (s *Sniffer) claim(q *frame.Query, symbols *symbolstore.Symbols) (trad.Row, frame.Answer) {
	row, answer := s.win(q, symbols)
	if answer == frame.Claimed {
		return row, answer
	}
	row, byCFI := s.cfi(q, symbols)
	if byCFI == noRecord && answer != noWin {
		return row, answer
	}
	return row, byCFI
}

// cfi makes a row of STACK CFI records.
func (*Sniffer) cfi(q *frame.Query, symbols *symbolstore.Symbols) (trad.Row, frame.Answer) {
	addr := q.AddressInBlock - symbols.Base
	rules, err := symbols.RulesAt(addr)
	switch {
	case err != nil:
		return trad.Row{}, malformed
	case rules == nil:
		return trad.Row{}, noRecord
	}
	row, ok := rowOf(rules.List, q.Arch)
	if !ok {
		return trad.Row{}, noCFA
	}
	if begins(symbols, addr) {
		row.RA, row.Flags = trad.Rule{Kind: trad.Undefined}, row.Flags|trad.Outermost
	}
	row.Lo, row.Len = rules.Code.Address+symbols.Base, uint32(min(rules.Code.Size, math.MaxUint32))
	if q.Contradicted(&row) {
		return trad.Row{}, tornDown
	}
	if strays(q, &row) {
		return trad.Row{}, stray
	}
	return row, frame.Claimed
}

// strays reports whether a row of frame 0 has the CFA in a register that is neither SP nor FP, and
// leads to no return address. dump_syms has no words for how a function goes on that has aligned
// its stack: by its records, the CFA stays where it was at first, in ecx on 32-bit x86, and the
// function soon has something else there.
func strays(q *frame.Query, row *trad.Row) bool {
	a := q.Arch
	if !q.Innermost() || row.CFA.Kind != trad.InReg || row.CFA.Reg == a.SP || row.CFA.Reg == a.FP || row.Flags&trad.Outermost != 0 {
		return false
	}
	to, ok := q.Apply(row)
	return !ok || !q.Modules.IsCode(to.PC.Bits-1)
}

// FunctionStart returns where the function begins that q.AddressInBlock is in, by the symbol file.
func (s *Sniffer) FunctionStart(q *frame.Query) (addr uint64, ok bool) {
	lo, _, ok := s.FunctionBounds(q)
	return lo, ok
}

// FunctionBounds returns the code of the function that q.AddressInBlock is in, by the symbol file.
func (s *Sniffer) FunctionBounds(q *frame.Query) (lo, hi uint64, ok bool) {
	if q.Module == nil {
		return 0, 0, false
	}
	symbols, err := symbolstore.Open(s.Dir, q.Module)
	if err != nil || symbols == nil {
		return 0, 0, false
	}
	r, ok := symbols.Bounds(q.AddressInBlock - symbols.Base)
	lo = r.Address + symbols.Base
	return lo, lo + min(r.Size, q.Module.Hi()-lo), ok
}

// begins reports whether the code at addr is where ELF programs begin. Their tables say that its
// return address is undefined, for which STACK CFI has no words.
func begins(symbols *symbolstore.Symbols, addr uint64) bool {
	if !elfSystem(symbols.Module.OS) {
		return false
	}
	at, err := symbols.Locate(addr)
	return err == nil && len(at) > 0 && at[len(at)-1].Function == "_start"
}

func elfSystem(os string) bool { return os == "Linux" || os == "Android" }

// rowOf makes a row of rules; ok is false if the CFA's or the return address's is missing or none
// that a row can have.
func rowOf(rules []format.Rule, a *arch.Arch) (row trad.Row, ok bool) {
	row.FP.Kind = trad.Same
	others := &trad.OtherRules{Default: trad.Same}
	m := maker{a, others}
	for _, r := range rules {
		switch r.Register {
		case format.CFA:
			row.CFA = m.cfa(r.Expr)
			continue
		case format.RA:
			// dump_syms writes ".ra: .ra" where the tables say that the link register has its value
			// again.
			if name, off, ok := r.Expr.Linear(); ok && name == format.RA && off == 0 && a.RA != a.PC {
				row.RA = trad.Rule{Kind: trad.Same}
				continue
			}
			row.RA = m.rule(a.RA, r.Expr)
			continue
		}
		switch reg, known := register(a, r.Register); {
		case known && reg == a.PC && row.RA.Kind == trad.NotTracked: // "$eip", as in the specification's example
			row.RA = m.rule(a.RA, r.Expr)
		case !known || reg == a.PC || reg == a.RA: // the return address has a rule of its own
		case reg == a.FP:
			row.FP = m.rule(reg, r.Expr)
		default:
			others.Regs = append(others.Regs, trad.RegRule{Reg: reg, Rule: m.rule(reg, r.Expr)})
		}
	}
	slices.SortStableFunc(others.Regs, func(x, y trad.RegRule) int { return cmp.Compare(x.Reg, y.Reg) })
	row.Others = others
	return row, row.CFA.Kind != trad.NotTracked && row.RA.Kind != trad.NotTracked
}

// maker makes the rules of one row.
type maker struct {
	arch   *arch.Arch
	others *trad.OtherRules
}

// cfa returns the rule of the CFA.
func (m maker) cfa(e format.Expr) trad.Rule {
	if e.Undefined() {
		return trad.Rule{}
	}
	if reg, off, ok := m.linear(e); ok {
		return trad.Rule{Kind: trad.InReg, Reg: reg, Off: off}
	}
	if at, saved := e.Saved(); saved {
		if reg, off, ok := m.linear(at); ok {
			return trad.Rule{Kind: trad.SavedAt, Reg: reg, Off: off}
		}
	}
	return m.expression(trad.ValExpr, e)
}

// rule returns the rule of register reg.
func (m maker) rule(reg trad.Reg, e format.Expr) trad.Rule {
	if e.Undefined() {
		return trad.Rule{Kind: trad.Undefined}
	}
	at, saved := e.Saved()
	if !saved {
		if off, ok := fromCFA(e); ok {
			return trad.Rule{Kind: trad.Value, Off: off}
		}
		if base, off, ok := m.linear(e); ok {
			if base == reg && off == 0 {
				return trad.Rule{Kind: trad.Same}
			}
			return trad.Rule{Kind: trad.InReg, Reg: base, Off: off}
		}
		return m.expression(trad.ValExpr, e)
	}
	if off, ok := fromCFA(at); ok {
		return trad.Rule{Kind: trad.Saved, Off: off}
	}
	if base, off, ok := m.linear(at); ok {
		return trad.Rule{Kind: trad.SavedAt, Reg: base, Off: off}
	}
	return m.expression(trad.Expr, at)
}

// expression returns a rule that computes e.
func (m maker) expression(kind trad.Kind, e format.Expr) trad.Rule {
	m.others.Exprs = append(m.others.Exprs, expression{e, m.arch})
	return trad.Rule{Kind: kind, Off: int32(len(m.others.Exprs) - 1)}
}

// linear returns base and offset if e is a processor's register plus a number that a rule can hold.
func (m maker) linear(e format.Expr) (base trad.Reg, off int32, ok bool) {
	name, offset, ok := e.Linear()
	if !ok || offset != int64(int32(offset)) {
		return 0, 0, false
	}
	base, ok = register(m.arch, name)
	return base, int32(offset), ok
}

// fromCFA returns e's distance from the CFA, if that is a number that a rule can hold.
func fromCFA(e format.Expr) (off int32, ok bool) {
	name, offset, ok := e.Linear()
	return int32(offset), ok && name == format.CFA && offset == int64(int32(offset))
}

// register returns the number of the register that a symbol file calls name: "$rsp", "x29".
func register(a *arch.Arch, name string) (trad.Reg, bool) {
	name = strings.TrimPrefix(name, "$")
	for _, r := range a.Regs {
		if r.Name == name {
			return r.Num, true
		}
	}
	return 0, false
}

// expression is an expression of a symbol file as one of a row.
type expression struct {
	format.Expr
	arch *arch.Arch
}

// Eval implements [trad.Expression].
func (e expression) Eval(env trad.Env, cfa uint64, hasCFA bool) (uint64, error) {
	return e.Expr.Eval(scope{env, e.arch, cfa, hasCFA}, uint(8*e.arch.PtrSize))
}

// scope is what an expression of one frame reads.
type scope struct {
	trad.Env
	arch   *arch.Arch
	cfa    uint64
	hasCFA bool
}

// Register implements [format.Env].
func (s scope) Register(name string) (uint64, bool) {
	if name == format.CFA {
		return s.cfa, s.hasCFA
	}
	reg, ok := register(s.arch, name)
	if !ok {
		return 0, false
	}
	return s.Env.Register(reg)
}
