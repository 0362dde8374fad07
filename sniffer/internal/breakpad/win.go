package breakpad

import (
	"cmp"
	"math"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	format "github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/trad"
)

// STACK WIN records are of 32-bit x86 on Windows. A record of frame data has a program. Mostly it
// starts from ebp, and gives a row as STACK CFI does. A program that reads ".raSearch", and every
// record of FPO (frame pointer omission), count from esp: there the arguments are that THIS has
// pushed for NEXT, and only NEXT's record tells their size. So such a row is THIS frame's alone.
//
// The return address is looked for there and in the three words behind, for THIS may have aligned
// its stack. Breakpad looks there, too, and then at as many words as where it has no record; such
// an address is marked as a guess, and so is one that is not in the first place. rust-minidump
// looks in the first place alone. Breakpad takes the size of the arguments of frame 0's function
// where NEXT's function counts (its loop over the frames does not end at the first); here, NEXT's
// function counts.

const (
	noWin       = frame.Answer("no STACK WIN record covers PC")
	badProgram  = frame.Answer("the STACK WIN record's program is malformed")
	noWinCFA    = frame.Answer("the STACK WIN record's program gives no return address, or no stack pointer")
	noRegisters = frame.Answer("the stack pointer is not known, by which the STACK WIN record finds the frame")
	noReturn    = frame.Answer("where the STACK WIN record has the return address, there is none")
)

// x86 is the processor of STACK WIN records, by its name in MODULE records.
const x86 = "x86"

// How many words are looked at for a return address: behind where it should be, and where it is not
// there.
const (
	wordsAligned   = 4
	wordsCaller    = 40
	wordsInnermost = 160
)

// codeView are the registers that programs have by their numbers in CodeView debug information
// (CV_REG_EBX, …).
var codeView = map[string]string{"$20": "$ebx", "$21": "$esp", "$22": "$ebp", "$23": "$esi", "$24": "$edi"}

// win makes a row of a STACK WIN record.
func (s *Sniffer) win(q *frame.Query, symbols *symbolstore.Symbols) (trad.Row, frame.Answer) {
	if symbols.Module.Arch != x86 {
		return trad.Row{}, noWin
	}
	addr := q.AddressInBlock - symbols.Base
	w, err := symbols.Win(addr)
	if err != nil || w == nil {
		return trad.Row{}, noWin
	}
	bounds := symbols.WinBounds(addr)
	at := winFrame{s: s, q: q, record: w}
	row, answer := at.row(symbols)
	if answer != frame.Claimed {
		return trad.Row{}, answer
	}
	row.Lo, row.Len = bounds.Address+symbols.Base, uint32(min(bounds.Size, math.MaxUint32))
	if row.Flags&trad.Once != 0 {
		row.Lo, row.Len = q.PC, 1
	}
	if q.Contradicted(&row) {
		return trad.Row{}, tornDown
	}
	return row, frame.Claimed
}

// winFrame is THIS, and its record.
type winFrame struct {
	s      *Sniffer
	q      *frame.Query
	record *format.StackWin

	// found says that the return address was looked for, from start on, and was found at.
	found     bool
	start, at uint64
	guess     bool
}

func (f *winFrame) row(symbols *symbolstore.Symbols) (trad.Row, frame.Answer) {
	q, w := f.q, f.record
	if !w.HasProgram {
		if r, ok := symbols.Bounds(w.Address); ok && q.Innermost() && q.PC-symbols.Base == w.Address && r.Address == w.Address {
			return f.entered(), frame.Claimed
		}
		return f.fpo()
	}
	program := f.program()
	if program == nil {
		return trad.Row{}, badProgram
	}
	vars := map[string]format.Expr{
		".cbParams": format.Number(w.ParamSize), ".cbSavedRegs": format.Number(w.SavedRegsSize), ".cbLocals": format.Number(w.LocalSize),
	}
	switch {
	case !program.Reads(".raSearch") && !program.Reads(".raSearchStart") && !program.Reads(".cbCalleeParams"):
	case program.Aligns():
		// The program aligns what it finds so. Nothing counts from esp then, which the function has
		// aligned, too: the program means the frame record at ebp.
		vars[".raSearch"] = format.Plus("$ebp", int64(q.Arch.PtrSize))
	default:
		if answer := f.search(); answer != frame.Claimed {
			return trad.Row{}, answer
		}
		sp, _ := f.sp()
		vars[".raSearch"] = format.Plus("$esp", int64(f.at-sp))
		vars[".cbCalleeParams"] = format.Number(f.calleeParams())
	}
	vars[".raSearchStart"] = vars[".raSearch"]
	rules, err := program.Rules(vars)
	if err != nil {
		return trad.Row{}, badProgram
	}
	row, ok := winRow(rules, q.Arch)
	if !ok {
		return trad.Row{}, noWinCFA
	}
	f.flag(&row)
	return row, frame.Claimed
}

// program returns the record's program, nil if it is malformed. Each is compiled once for a module.
func (f *winFrame) program() *format.Program {
	type key struct{ text string }
	return f.q.Module.Memo(key{f.record.Program}, func() any {
		p, err := format.ParseProgram(f.record.Program)
		if err != nil {
			return (*format.Program)(nil)
		}
		return p
	}).(*format.Program)
}

// winRow makes a row of what a program assigns. Registers that it does not assign are unchanged:
// compilers have a record for each part of a prologue, and list what is saved there. The frame
// pointer is no exception.
func winRow(rules []format.Rule, a *arch.Arch) (row trad.Row, ok bool) {
	row.FP.Kind = trad.Same
	others := &trad.OtherRules{Default: trad.Same}
	m := maker{a, others}
	for _, r := range rules {
		name := r.Register
		if by, numbered := codeView[name]; numbered {
			name = by
		}
		switch reg, known := register(a, name); {
		case !known: // a variable of the program
		case reg == a.SP:
			row.CFA = m.cfa(r.Expr)
		case reg == a.PC:
			row.RA = m.rule(reg, r.Expr)
		case reg == a.FP:
			row.FP = m.rule(reg, r.Expr)
		default:
			i, listed := slices.BinarySearchFunc(others.Regs, reg, func(x trad.RegRule, reg trad.Reg) int { return cmp.Compare(x.Reg, reg) })
			if !listed {
				others.Regs = slices.Insert(others.Regs, i, trad.RegRule{Reg: reg})
			}
			others.Regs[i].Rule = m.rule(reg, r.Expr)
		}
	}
	fromCFABase(&row)
	row.Others = others
	return row, row.CFA.Kind != trad.NotTracked && row.RA.Kind != trad.NotTracked
}

// fromCFABase makes what is saved at a distance from the CFA's register saved at one from the CFA,
// as most tables have it: then a Walker applies the row without more ado.
func fromCFABase(row *trad.Row) {
	for _, r := range []*trad.Rule{&row.RA, &row.FP} {
		if row.CFA.Kind == trad.InReg && r.Kind == trad.SavedAt && r.Reg == row.CFA.Reg {
			*r = trad.Rule{Kind: trad.Saved, Off: r.Off - row.CFA.Off}
		}
	}
}

// entered is the row of a function's first instruction.
func (f *winFrame) entered() trad.Row {
	a := f.q.Arch
	return trad.Row{
		CFA:    trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: -a.RAOffset},
		RA:     trad.Rule{Kind: trad.Saved, Off: a.RAOffset},
		FP:     trad.Rule{Kind: trad.Same},
		Flags:  trad.Once,
		Others: &trad.OtherRules{Default: trad.Same},
	}
}

// fpo makes the row of a record without a program: only the sizes of the frame's parts are known.
func (f *winFrame) fpo() (trad.Row, frame.Answer) {
	if answer := f.search(); answer != frame.Claimed {
		return trad.Row{}, answer
	}
	a := f.q.Arch
	sp, _ := f.sp()
	row := trad.Row{
		CFA: trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: int32(f.at + uint64(a.PtrSize) - sp)},
		RA:  trad.Rule{Kind: trad.Saved, Off: -int32(a.PtrSize)},
		FP:  trad.Rule{Kind: trad.Same},
	}
	if f.record.SavedRegsSize == 0 {
		row.Others = &trad.OtherRules{Default: trad.Same} // else it is not known which are saved
	}
	if f.record.AllocatesBasePtr {
		row.FP = trad.Rule{Kind: trad.SavedAt, Reg: a.SP, Off: int32(f.savedFP(sp) - sp)}
		fromCFABase(&row)
	}
	f.flag(&row)
	return row, frame.Claimed
}

// savedFP returns where a function that uses ebp as any other register has saved it. Compilers push
// ebx, ebp, esi, edi in this order, so that ebp is the second word from the outer end of the saved
// registers if ebx is among them, as Breakpad has it. If what is there is no address on the stack,
// any word of the saved registers that is one is likelier.
func (f *winFrame) savedFP(sp uint64) uint64 {
	size := uint64(f.q.Arch.PtrSize)
	lo := sp + f.calleeParams()
	saved := f.record.SavedRegsSize
	second := lo + saved - 2*size
	if saved < 2*size {
		second = lo
	}
	if f.pointsOutward(second, sp) {
		return second
	}
	for off := min(saved, 16*size); off >= size; off -= size {
		if at := lo + off - size; f.pointsOutward(at, sp) {
			return at
		}
	}
	return second
}

// pointsOutward reports whether the word at an address is the address of one on the stack, outward
// of sp.
func (f *winFrame) pointsOutward(at, sp uint64) bool {
	v, ok := f.q.Word(at)
	if !ok || v < sp {
		return false
	}
	_, ok = f.q.Word(v)
	return ok
}

// flag marks a row whose return address was looked for.
func (f *winFrame) flag(row *trad.Row) {
	if f.found {
		row.Flags |= trad.Once
	}
	if f.guess {
		row.Flags |= trad.Guess
	}
}

// sp returns the stack pointer of THIS.
func (f *winFrame) sp() (uint64, bool) {
	v := f.q.This.Register(f.q.Arch.SP)
	return v.Bits, v.Known()
}

// search looks for the return address where the sizes of the frame's parts have it.
func (f *winFrame) search() frame.Answer {
	q, w := f.q, f.record
	sp, ok := f.sp()
	if !ok {
		return noRegisters
	}
	size := uint64(q.Arch.PtrSize)
	f.found = true
	f.start = (sp + f.calleeParams() + w.LocalSize + w.SavedRegsSize) & f.mask()
	if f.start < sp || f.start-sp > math.MaxInt32 {
		return noReturn
	}
	first := f.start
	if v, ok := f.q.Word(first); ok && !w.HasProgram && q.Innermost() && v == q.PC {
		first += size // a system call has returned, but has left its own return address
	}
	if f.at, ok = f.firstReturn(first, wordsAligned); ok {
		f.guess = f.at != first
		return frame.Claimed
	}
	if v, ok := f.q.Word(f.start); ok && v == 0 {
		f.at = f.start // the stack may end here
		return frame.Claimed
	}
	words := wordsCaller
	if q.Innermost() {
		words = wordsInnermost
	}
	f.guess = true
	if f.at, ok = f.firstReturn(f.start+size, words); !ok {
		return noReturn
	}
	return frame.Claimed
}

// mask has the bits of an address.
func (f *winFrame) mask() uint64 { return math.MaxUint64 >> (64 - 8*f.q.Arch.PtrSize) }

// firstReturn returns where the first of some words is that may be a return address.
func (f *winFrame) firstReturn(from uint64, words int) (at uint64, ok bool) {
	size := uint64(f.q.Arch.PtrSize)
	for at = from; words > 0; words-- {
		v, ok := f.q.Word(at)
		if !ok {
			return 0, false
		}
		if f.mayReturnTo(v) {
			return at, true
		}
		at += size
	}
	return 0, false
}

// mayReturnTo reports whether an address is behind a call, or in a function if the code cannot be
// read.
func (f *winFrame) mayReturnTo(ra uint64) bool {
	q := f.q
	if ra == 0 || !q.Modules.IsCode(ra-1) {
		return false
	}
	if follows, known := q.FollowsCall(ra); known {
		return follows
	}
	m := q.Modules.Find(ra - 1)
	if m == nil {
		return false
	}
	if _, _, ok := q.FunctionAt(ra - 1); ok {
		return true
	}
	symbols, err := symbolstore.Open(f.s.Dir, m)
	return err != nil || symbols == nil
}

// calleeParams returns the size of the arguments that THIS has pushed for NEXT, 0 if it is not
// known.
func (f *winFrame) calleeParams() uint64 {
	next := f.q.This.Next()
	if f.q.Innermost() || next == nil || next.Level < 0 {
		return 0
	}
	m := f.q.Modules.Find(next.AddressInBlock())
	if m == nil {
		return 0
	}
	symbols, err := symbolstore.Open(f.s.Dir, m)
	if err != nil || symbols == nil {
		return 0
	}
	size, _ := symbols.ParamSize(next.AddressInBlock() - symbols.Base)
	return size
}
