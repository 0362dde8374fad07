package main

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// noFrame says why the plug-in declines a frame.
const noFrame = "the code at PC has no frame that can be followed"

// A reader finds rows by reading code. JITs write no unwind tables, but code of a plain
// form: a prologue that sets up a frame record, a body that leaves the frame pointer
// alone, and epilogues.
type reader struct {
	arch *arch.Arch
	// step decodes the instruction at code[at:], as far as it matters to the frame
	// pointer.
	step func(code []byte, at int) step
	// popped recognises code at pc that moves the return address of a frame that is gone already,
	// before it returns.
	popped func(code []byte, pc uint64) (trad.Row, bool)
	// twice finds the row for block in code of the form calledTwice.
	twice func(code []byte, start, block uint64) (row trad.Row, why string)
	// preserved are the callee-saved registers that have no place of their own in a row, in
	// ascending order.
	preserved []trad.Reg
}

// step is an instruction.
type step struct {
	size   int // 0 if it cannot be decoded
	effect effect
	level  bool // after it, SP is FP or a fixed distance from it
	target int  // offset in the code that it may jump to; -1 if that is not known, or it does not jump
}

type effect uint8

const (
	plain  effect = iota // leaves the frame pointer alone
	calls                // leaves it alone, too, if the called function keeps to the rules
	sets                 // makes the frame pointer point to the frame record
	loses                // gives the frame pointer another value
	leaves               // control does not reach the next instruction
)

// row finds the row for block, and the range for which it holds, in code that begins with a
// function's entry, at start. pc is block, or the address behind it if a call at block has not
// returned yet.
func (r *reader) row(code []byte, start, pc, block uint64, f form) (row trad.Row, why string) {
	steps := r.steps(code)
	lo, hi, up := r.body(code, steps, int(block-start), f)
	extend := func(row trad.Row, flags trad.Flags) trad.Row {
		row.Lo, row.Len, row.Flags = start+uint64(lo), uint32(hi-lo), row.Flags&^(trad.Guess|trad.InPrologue)|flags
		return row
	}
	switch {
	case up && (f == framedByCall || f == framed || f == calledTwice):
		return extend(r.inBody(), 0), ""
	case f == calledTwice:
		return r.twice(code, start, block)
	case f == framed:
		why = noFrame
	default:
		row, _, why = r.arch.ReadFrame(code, start, block)
	}
	if why == "" && (!r.simple(row) || f == lossy && !r.untouched(row) && row.CFA.Reg == r.arch.SP && !steady(steps, int(block-start))) {
		row, why = trad.Row{}, noFrame
	}
	record, is := r.record(row)
	switch {
	case up && why == "" && is:
		// Two findings agree: the flow of control, and the code around, which does not touch the
		// frame pointer.
		if f == abiding || f == ordinary && r.saves(row.Others) {
			row.Flags &^= trad.Guess
			return row, "" // each instruction may change where other registers are
		}
		return extend(record, 0), ""
	case why == "" && row.Flags&trad.Guess == 0:
		return row, ""
	}
	if pc == block {
		rest := code[block-start:]
		if row, out := r.arch.ReadEpilogue(rest, pc); out&arch.TearsDown != 0 && row.Flags&trad.Guess == 0 {
			return row, ""
		}
		if row, ok := r.popped(rest, pc); ok {
			return row, ""
		}
	}
	if up {
		// No flow that can be followed leads here: a table of jumps does.
		return extend(r.inBody(), trad.Guess), ""
	}
	return trad.Row{}, noFrame
}

// saves reports whether a row tells where other registers are saved.
func (r *reader) saves(read *trad.OtherRules) bool {
	return slices.ContainsFunc(r.preserved, func(reg trad.Reg) bool { return saved(read.Rule(reg)) })
}

func saved(rule trad.Rule) bool { return rule.Kind == trad.Saved || rule.Kind == trad.SavedAt }

// record returns the row by the frame pointer, if row is that or says the same by the
// stack pointer.
func (r *reader) record(row trad.Row) (trad.Row, bool) {
	switch {
	case row.CFA.Kind != trad.InReg || row.FP.Kind != trad.Saved || row.RA.Kind != trad.Saved || row.RA.Off != row.FP.Off+int32(r.arch.PtrSize):
		return row, false
	case row.CFA.Reg == r.arch.FP:
		return row, row.CFA.Off == -row.FP.Off
	case r.arch.FrameRecordAnywhere && row.CFA.Reg == r.arch.SP:
		row.CFA = trad.Rule{Kind: trad.InReg, Reg: r.arch.FP, Off: -row.FP.Off}
		return row, true
	}
	return row, false
}

// inBody returns the row of a body.
func (r *reader) inBody() trad.Row {
	return trad.Row{
		CFA: trad.Rule{Kind: trad.InReg, Reg: r.arch.FP, Off: r.arch.FrameRecord},
		FP:  trad.Rule{Kind: trad.SavedAt, Reg: r.arch.FP},
		RA:  trad.Rule{Kind: trad.SavedAt, Reg: r.arch.FP, Off: int32(r.arch.PtrSize)},
	}
}

// isBody reports whether a row is of a function's body.
func (r *reader) isBody(row *trad.Row) bool {
	return row.CFA == trad.Rule{Kind: trad.InReg, Reg: r.arch.FP, Off: r.arch.FrameRecord}
}

// simple reports whether a row finds the CFA by the stack pointer or the frame pointer. Code that
// holds the CFA in another register for a moment may be about to move the return address.
func (r *reader) simple(row trad.Row) bool {
	return row.CFA.Kind == trad.InReg && (row.CFA.Reg == r.arch.SP || row.CFA.Reg == r.arch.FP)
}

// body returns the range of offsets around at in code in which the frame pointer points
// to the frame record; ok is false where it does not, or where that is not known.
//
// After the record was set up, code behind a jump or a return counts as more of the body, unless a
// branch leads there from code without the record.
func (r *reader) body(code []byte, steps []step, at int, f form) (lo, hi int, ok bool) {
	if f == framedByCall {
		lo = firstCall(steps)
		return lo, len(code), lo > 0 && at >= lo
	}
	without := map[int]bool{} // the targets of such branches
	for range maxRounds {
		known := len(without)
		lo, hi, ok = sweep(steps, at, f, without)
		if len(without) == known {
			return lo, hi, ok
		}
	}
	return 0, 0, false
}

// maxRounds bounds the passes over the code; two are usually enough.
const maxRounds = 4

// steps decodes code from its beginning, as far as it can be decoded.
func (r *reader) steps(code []byte) []step {
	list := make([]step, 0, len(code)/4)
	for at := 0; at < len(code); {
		s := r.step(code, at)
		if s.size == 0 {
			break
		}
		list = append(list, s)
		at += s.size
	}
	return list
}

// firstCall returns the offset behind the first call, 0 if there is none. The code behind it may
// hold tables of data.
func firstCall(steps []step) (off int) {
	for _, s := range steps {
		if s.effect == leaves {
			break
		}
		if off += s.size; s.effect == calls {
			return off
		}
	}
	return 0
}

// untouched reports whether a row is of a function's first instruction.
func (r *reader) untouched(row trad.Row) bool {
	return row.CFA == trad.Rule{Kind: trad.InReg, Reg: r.arch.SP, Off: -r.arch.RAOffset} && row.FP.Kind == trad.Same
}

// steady reports whether the instructions before an offset determine SP there. V8's functions pop
// their arguments, and their callers do not tell how many. So SP is known if there is no call
// before, or SP was made from FP after the last call.
func steady(steps []step, at int) bool {
	called, level, off := false, true, 0
	for _, s := range steps {
		if off >= at {
			break
		}
		off += s.size
		switch {
		case s.effect == calls:
			called, level = true, false
		case s.level:
			level = true
		case s.effect == leaves:
			level = !called
		}
	}
	return level && off >= at
}

// sweep makes one pass over the code, and adds to without.
func sweep(steps []step, at int, f form, without map[int]bool) (lo, hi int, ok bool) {
	made, up := f == framed, f == framed // the record has been set up, and is there
	begin := 0                           // of the range in which it is, if it is
	off := 0
	end := func() {
		if up && begin <= at && at < off {
			lo, hi, ok = begin, off, true
		}
		up = false
	}
	for _, s := range steps {
		if without[off] {
			end()
		}
		off += s.size
		if !up && s.target >= 0 {
			without[s.target] = true
		}
		switch {
		case s.effect == loses:
			end()
		case s.effect == sets, s.effect == leaves && made:
			if !up {
				begin = off
			}
			made, up = true, true
		}
	}
	end()
	return lo, hi, ok
}
