package hotspot

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/trad"
)

// adapter returns the row of a frame in an adapter. Control comes to one of its entries as by a
// call. The adapter moves the arguments, and the return address with them, to where the other kind
// of code expects them, and jumps to the method. It calls the virtual machine on the way if the
// method has been compiled meanwhile.
func (vm *machine) adapter(q *frame.Query, r *vmstructs.Reader, b *vmstructs.Blob) (trad.Row, frame.Answer) {
	a := q.Arch
	if a.ReadReached == nil || a.GoesOn == nil || a.JavaInterpreter == nil {
		return trad.Row{}, notSetUp
	}
	if !q.MaySearch() {
		return trad.Row{}, noEffort
	}
	code := make([]byte, min(b.Hi-b.Lo, maxCode))
	n, _ := q.Memory.ReadMemory(b.Lo, code)
	code = code[:n]
	more := q.CountSearched(n / readOver)
	try := func(start uint64) (row trad.Row, ok bool) {
		if !more || start > q.PC || start-b.Lo >= uint64(len(code)) {
			return row, false
		}
		row, steps, why := a.ReadReached(code[start-b.Lo:], start, q.PC)
		more = q.CountSearched(steps)
		ok = why == "" && row.Flags&trad.Guess == 0 && row.RA.Kind != trad.NotTracked && vm.leads(q, r, &row)
		row.Flags |= trad.InPrologue | trad.Once
		row.Others = vm.compiledOthers
		return row, ok
	}
	// Interpreted methods enter at the beginning.
	if row, ok := try(b.Lo); ok {
		return row, frame.Claimed
	}
	if method := q.This.Register(a.JavaInterpreter.Method); method.Known() {
		if entry, ok := vm.adapters.Entry(r, b, method.Bits); ok {
			if row, ok := try(entry); ok {
				return row, frame.Claimed
			}
		}
	}
	// Compiled methods that do not know the class of the object enter behind the jump to the
	// compiled method.
	jump, within := b.Lo, false
	steps := a.GoesOn(code, b.Lo, b.Lo, func(pc uint64) bool {
		jump, within = pc, within || pc == q.PC
		return true
	})
	more = more && q.CountSearched(steps)
	for start := jump + 1; start <= jump+maxJump; start++ {
		if row, ok := try(start); ok {
			return row, frame.Claimed
		}
	}
	// In the end the code has no register with the stack pointer of the interpreted method that it
	// comes from. The return address is where the compiled method expects it.
	word := int32(a.PtrSize)
	row := trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.InPrologue | trad.Once,
		CFA: trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: word}, RA: trad.Rule{Kind: trad.Saved, Off: -word}, FP: trad.Rule{Kind: trad.Same},
	}
	if within && vm.leads(q, r, &row) && byRegister(q, &row) {
		return row, frame.Claimed
	}
	return trad.Row{}, notSetUp
}

// maxJump bounds the length, in bytes, of a jump to an address in a register.
const maxJump = 4
