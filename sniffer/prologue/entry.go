package prologue

import (
	"debug/elf"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// No call leads to the entry point of a program, or of its dynamic linker: the kernel has entered
// it, and SP was at the number of the program's arguments. Any ELF file has room for an entry
// point, though. Linkers put an ordinary function there if they are told so, and perf gives files
// to code that was made at run time, with its one function as the entry point. Such functions have
// callers like others. So may a program's own entry point, if it is called once more.

// maxEntry bounds the code at an entry point, in bytes. Such code calls functions like other code.
const maxEntry = 256

// begun answers for code in [lo, hi), which begins at the entry point of a module. answer is the
// one that holds of an ordinary function, if the code is not where the kernel has entered the
// process.
func begun(q *frame.Query, im *elfimage.Image, bias, lo, hi uint64) (trad.Row, frame.Answer) {
	row, answer := trad.Row{}, tooFar
	if q.AddressInBlock-lo <= maxFunction {
		row, answer = readFrom(q, lo, hi, q.Arch.ReadFrame)
	}
	if answer == frame.Claimed && isCalled(q, &row) {
		if isProgram(q.Module, im) {
			row.Flags |= trad.Once // another frame there may be outermost
		}
		return row, answer
	}
	if !starts(q, im, bias, &row) {
		return row, answer
	}
	last := outermost(q, lo, uint32(hi-lo))
	if answer == frame.Claimed {
		last.Flags |= trad.Once // another frame may have been called
	}
	return last, frame.Claimed
}

// isCalled reports whether a row leads to a return address behind a call.
func isCalled(q *frame.Query, row *trad.Row) bool {
	if !q.Innermost() && q.Arch.RA != q.Arch.PC && row.RA.Kind == trad.Same {
		return false // the call that THIS has made has overwritten the link register
	}
	c, ok := q.Apply(row)
	return ok && c.PC.Bits != 0 && q.MayReturnTo(c.PC.Bits)
}

// starts reports whether THIS, which is at the entry point of its module, is where the process has
// begun. row is THIS frame's, if Len is not 0.
func starts(q *frame.Query, im *elfimage.Image, bias uint64, row *trad.Row) bool {
	if isProgram(q.Module, im) {
		return true
	}
	// The dynamic linker has no mark of its own.
	a, word := q.Arch, uint64(q.Arch.PtrSize)
	sp := q.This.Register(a.SP)
	if !sp.Known() {
		return false
	}
	if row.Len != 0 {
		if c, ok := q.Apply(row); ok && isArguments(q, im, bias, c.CFA+uint64(int64(a.RAOffset)+int64(a.SPFromCFA))) {
			return true
		}
	}
	for i := range uint64(nearArguments) {
		if isArguments(q, im, bias, sp.Bits+i*word) {
			return true
		}
	}
	return false
}

// nearArguments is how many words the code at an entry point may put on the stack, below the number
// of arguments.
const nearArguments = 16

// isProgram reports whether a file is a program, by its headers.
func isProgram(m *target.Module, im *elfimage.Image) bool {
	if m.Registered() {
		return false
	}
	if im.Type == elf.ET_EXEC {
		return true
	}
	for _, p := range im.Progs {
		if p.Type == elf.PT_INTERP {
			return true
		}
	}
	dynamic, _, err := im.Segment(elf.PT_DYNAMIC)
	if err != nil {
		return false
	}
	for tag, v := range im.Dynamic(dynamic) {
		if tag == elf.DT_FLAGS_1 && elf.DynFlag1(v)&elf.DF_1_PIE != 0 {
			return true
		}
	}
	return false
}

// maxStrings is how many bytes may lie between the pointers to a new process's strings and the last
// string.
const maxStrings = 8 << 20

// isArguments reports whether the number of the program's arguments is at addr, as the kernel
// leaves it: pointers to as many strings follow, a zero, pointers to the strings of the
// environment, a zero, and the auxiliary vector. The strings lie behind that, in the same order.
// The vector must name the module.
func isArguments(q *frame.Query, im *elfimage.Image, bias, addr uint64) bool {
	word := uint64(q.Arch.PtrSize)
	last := addr + word
	inOrder := func(str uint64) bool {
		ok := str > last && str-last <= maxStrings
		last = str
		return ok
	}
	n, ok := q.Arguments(addr, inOrder)
	if !ok || n == 0 {
		return false
	}
	addr += (n + 2) * word
	for i := 0; ; i++ {
		str, ok := q.Word(addr)
		addr += word
		switch {
		case !ok:
			return true // the copy of the stack ends here
		case str == 0:
			return isVector(q, im, bias, addr)
		case i == 2*frame.MaxArguments || !inOrder(str):
			return false
		}
	}
}

// The auxiliary vector (elf.h).
const (
	vectorBase  = 7   // AT_BASE: the dynamic linker's load bias
	vectorEntry = 9   // AT_ENTRY: where the program begins
	maxVector   = 256 // many times the number of its entries
)

// isVector reports whether an auxiliary vector that names the module is at addr.
func isVector(q *frame.Query, im *elfimage.Image, bias, addr uint64) bool {
	word := uint64(q.Arch.PtrSize)
	for range maxVector {
		typ, ok := q.Word(addr)
		v, also := q.Word(addr + word)
		switch {
		case !ok || !also:
			return true // the copy of the stack ends here
		case typ == 0:
			return false
		case typ == vectorEntry && v == im.Entry+bias, typ == vectorBase && v == bias:
			return true
		}
		addr += 2 * word
	}
	return false
}

// atEntry answers for a caller that is the code at an entry point, such as the dynamic linker's.
// That code has no table, and no symbol if the file is stripped. Its calls may also stand behind
// another symbol.
func atEntry(q *frame.Query) (trad.Row, bool) {
	if q.Module == nil || q.Arch.ReadReached == nil {
		return trad.Row{}, false
	}
	im, bias, err := q.Module.Image()
	if err != nil || im.Entry == 0 || q.AddressInBlock-bias-im.Entry >= maxEntry {
		return trad.Row{}, false
	}
	row, answer := readFrom(q, im.Entry+bias, q.AddressInBlock, q.Arch.ReadReached)
	if answer != frame.Claimed || isCalled(q, &row) || !starts(q, im, bias, &row) {
		return trad.Row{}, false
	}
	last := outermost(q, row.Lo, row.Len)
	last.Flags |= trad.Once
	return last, true
}

func outermost(q *frame.Query, lo uint64, n uint32) trad.Row {
	return trad.Row{Lo: lo, Len: n, Flags: trad.Outermost, CFA: trad.Rule{Kind: trad.InReg, Reg: q.Arch.SP}}
}
