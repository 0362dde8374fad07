package hotspot

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/trad"
)

// The interpreter's code consists of codelets, one for each bytecode, and one for each way to enter
// a method. Control jumps from one to another while a method's frame is set up. Control reaches an
// entry as by a call, before there is a frame.

const (
	exceptionName = "exception handling"
)

// atCodelet returns the row of a frame in a codelet; row is the row of a frame that is set up.
func (vm *machine) atCodelet(q *frame.Query, r *vmstructs.Reader, row trad.Row) (trad.Row, frame.Answer) {
	a := q.Arch
	c, ok := vm.code.Codelet(r, q.AddressInBlock)
	lo, hi, name := c.Lo, c.Hi, c.Name
	guess := !ok || name == exceptionName // this codelet takes frames down, and makes calls after that
	if guess {
		row.Flags |= trad.Guess
	}
	if !q.Innermost() {
		return row, frame.Claimed
	}
	if !ok || q.PC < lo || a.ReadFrame == nil || a.ReadAhead == nil || !q.MaySearch() {
		row.Flags |= trad.Guess
		return row, frame.Claimed
	}
	code := make([]byte, min(hi-lo, maxCode))
	n, _ := q.Memory.ReadMemory(lo, code)
	code = code[:n]
	if c.IsEntry() {
		read, steps, why := a.ReadFrame(code, lo, q.PC)
		q.CountSearched(steps + n/readOver)
		known := why == "" && read.Flags&trad.Guess == 0 && read.RA.Kind != trad.NotTracked && read.CFA.Kind == trad.InReg
		switch {
		case known && read.CFA.Reg == a.SP:
			read.Flags |= trad.InPrologue | trad.Once
			if byRegister(q, &read) && leads(q, &read) {
				return read, frame.Claimed
			}
			// An adapter may have moved the return address away from a compiled caller's stack
			// pointer.
			if c, ok := q.Apply(&read); !ok || !row.Contains(c.PC.Bits-1) {
				read.Flags |= trad.Guess
			}
			return read, frame.Claimed
		}
		if out, ok := setsUp(q, code, lo); ok && byRegister(q, &out) && vm.leads(q, r, &out) {
			return out, frame.Claimed
		}
		row.Flags |= trad.Once
		stands := known && read.CFA == row.CFA || standing(q, code, lo, row.CFA)
		if !stands || !vm.hasSender(q) && !byRegister(q, &row) {
			row.Flags |= trad.Guess
		}
		return row, frame.Claimed
	}
	out, more := wayOut(q, code, lo, q.PC)
	if out.Len > 0 {
		if byRecord(q, &out) {
			return row, frame.Claimed
		}
		out.Flags |= row.Flags & trad.Guess
		return out, frame.Claimed
	}
	// The return address may already be in a register, and the frame gone.
	popped := trad.Rule{Kind: trad.SavedAt, Reg: a.SP}
	for at := q.PC - 1; more && at >= lo && q.PC-at <= maxReturn; at-- {
		if out, more = wayOut(q, code, lo, at); out.Len > 0 && out.RA == popped {
			return trad.Row{}, notSetUp
		}
	}
	return row, frame.Claimed
}

// maxReturn bounds the code, in bytes, between the instruction that pops the return address and the
// jump to it.
const maxReturn = 8

// wayOut returns the row of the first way that leads from pc to a return without a call. more is
// false if no more code may be read.
func wayOut(q *frame.Query, code []byte, start, pc uint64) (out trad.Row, more bool) {
	steps := q.Arch.ReadAhead(code, start, pc, nil, func(way trad.Row, calls int) bool {
		if calls == 0 && way.Flags&(trad.Outermost|trad.Guess) == 0 {
			out = way
		}
		return calls == 0 && out.Len == 0
	})
	return out, q.CountSearched(steps)
}

// byRecord reports whether a row finds the caller's frame pointer, or the CFA, by the frame pointer
// of THIS.
func byRecord(q *frame.Query, row *trad.Row) bool {
	fp := q.Arch.FP
	return row.FP == (trad.Rule{Kind: trad.SavedAt, Reg: fp}) || row.CFA.Kind == trad.InReg && row.CFA.Reg == fp
}

// standing reports whether the code before q.PC has set up the frame record by which cfa finds the
// CFA. That code may first move the stack pointer by any number of words. It then puts the return
// address on the top of the stack again, and sets up the record as at a function's beginning.
func standing(q *frame.Query, code []byte, lo uint64, cfa trad.Rule) bool {
	a := q.Arch
	if a.SkipPrologue == nil {
		return false
	}
	end := min(q.PC-lo, uint64(len(code)))
	for at := end; at > 0 && end-at < maxSetUp; {
		at--
		from := code[at:min(at+maxRecord, end)]
		if a.SkipPrologue(from, lo+at) == lo+at {
			continue
		}
		row, steps, why := a.ReadFrame(code[at:], lo+at, q.PC)
		if !q.CountSearched(steps) {
			return false
		}
		if why == "" && row.Flags&trad.Guess == 0 && row.CFA == cfa && row.RA.Kind == trad.Saved {
			return true
		}
	}
	return false
}

// setsUp returns the row of a frame whose record is about to be set up. The code before that may
// have made room for variables in a loop, but has put the return address on the top of the stack
// again.
func setsUp(q *frame.Query, code []byte, lo uint64) (row trad.Row, ok bool) {
	a := q.Arch
	if a.SkipPrologue == nil || q.PC-lo >= uint64(len(code)) {
		return row, false
	}
	for at := q.PC - lo; ; at-- {
		from := code[at:min(at+maxRecord, uint64(len(code)))]
		if a.SkipPrologue(from, lo+at) > q.PC {
			row, steps, why := a.ReadFrame(code[at:], lo+at, q.PC)
			ok = q.CountSearched(steps) && why == "" && row.Flags&trad.Guess == 0 && row.RA.Kind == trad.Saved && row.CFA == trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: row.CFA.Off}
			row.Flags |= trad.InPrologue | trad.Once
			return row, ok
		}
		if at == 0 || q.PC-lo-at == maxPush {
			return row, false
		}
	}
}

// maxPush bounds the code, in bytes, that saves the caller's frame pointer.
const maxPush = 2

const (
	maxSetUp  = 1 << 10 // how many bytes before PC a frame may have been set up
	maxRecord = 16      // bytes of code that sets up a frame record
)

// hasSender reports whether THIS has saved PREVIOUS's stack pointer already. It does so right after
// it has set up its frame record.
func (vm *machine) hasSender(q *frame.Query) bool {
	a := q.Arch
	sp, fp := q.This.Register(a.SP), q.This.Register(a.FP)
	at := fp.Bits + uint64(8*vm.sender)
	if !sp.Known() || !fp.Known() || a.InnerThan(at, sp.Bits) {
		return false
	}
	b := q.Read(at, a.PtrSize)
	if len(b) < a.PtrSize {
		return false
	}
	cfa := fp.Bits + uint64(a.FrameRecord)
	return a.Word(b)-cfa < maxLocals
}

// byRegister has a row take PREVIOUS's stack pointer from the register that holds it until THIS has
// saved it. It reports whether the register holds one.
func byRegister(q *frame.Query, row *trad.Row) bool {
	a := q.Arch
	if a.JavaInterpreter == nil || a.JavaInterpreter.Sender == arch.NoReg {
		return false
	}
	sender, base := q.This.Register(a.JavaInterpreter.Sender), q.This.Register(row.CFA.Reg)
	if !sender.Known() || !base.Known() || sender.Bits%uint64(a.PtrSize) != 0 {
		return false
	}
	if cfa := base.Bits + uint64(int64(row.CFA.Off)); sender.Bits-cfa >= maxLocals {
		return false
	}
	row.Others = others(a, trad.RegRule{Reg: a.SP, Rule: trad.Rule{Kind: trad.InReg, Reg: a.JavaInterpreter.Sender}})
	return true
}

// maxLocals bounds the local variables of a method, in bytes: there may be 65,535 words.
const maxLocals = 8 << 16
