package fp

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// anyRecord follows the frame record where compilers do not agree on its form. A form counts if the
// record leads to a return address behind a call, and outward; of several, one whose next record
// does so, too, counts more. If the stack is scanned afterwards, records at the architecture's own
// frame pointer do not count, except on Apple's systems, whose code always has them.
func anyRecord(q *frame.Query, scanned bool) (trad.Row, frame.Answer) {
	answer := unknownFP
	if scanned {
		answer = leadsPast
	}
	var row trad.Row
	found := false
	for _, form := range q.Arch.FrameRecords {
		if scanned && form.FP == q.Arch.FP {
			continue
		}
		fp, sp := q.This.Register(form.FP), q.This.Register(q.Arch.SP)
		if !fp.Known() {
			continue
		}
		inner := fp.Bits
		if sp.Known() {
			inner = sp.Bits
		}
		saved, why := follow(q, form, fp.Bits, inner)
		if why != frame.Claimed {
			if !found && !scanned {
				answer = why
			}
			continue
		}
		if _, why := follow(q, form, saved, fp.Bits+1); saved == 0 || why == frame.Claimed {
			return rowBy(q, form), frame.Claimed
		}
		if !found {
			row, answer, found = rowBy(q, form), frame.Claimed, true
		}
	}
	return row, answer
}

// follow checks the record of a form at fp, which must not lie inward of an address. It returns
// PREVIOUS's frame pointer.
func follow(q *frame.Query, form arch.FrameRecord, fp, inner uint64) (saved uint64, answer frame.Answer) {
	a := q.Arch
	size := a.PtrSize
	if fp == 0 || fp%uint64(size) != 0 {
		return 0, misaligned
	}
	if a.InnerThan(fp, inner) || fp-inner > maxFrameSize {
		return 0, inward
	}
	first := min(form.SavedFP, form.SavedRA)
	length := int(max(form.SavedFP, form.SavedRA)-first) + size
	p := q.Read(a.Wrap(fp+uint64(int64(first))), length)
	if len(p) < length {
		return 0, unreadable
	}
	saved, ra := a.Word(p[form.SavedFP-first:]), a.CodeAddress(a.Word(p[form.SavedRA-first:]))
	switch {
	case ra == 0 && saved == 0: // the end of the chain
	case ra == 0 || !q.Modules.IsCode(ra-1):
		return 0, notCode
	case !q.MayFollowCall(ra):
		return 0, notACall
	case saved != 0 && !a.InnerThan(fp, saved):
		return 0, chainInward
	}
	return saved, frame.Claimed
}

// rowBy returns the row of a function with a record of that form.
func rowBy(q *frame.Query, form arch.FrameRecord) trad.Row {
	row := trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Once | trad.Guess,
		CFA: trad.Rule{Kind: trad.InReg, Reg: form.FP, Off: form.CFA},
		RA:  trad.Rule{Kind: trad.SavedAt, Reg: form.FP, Off: form.SavedRA},
	}
	saved := trad.Rule{Kind: trad.SavedAt, Reg: form.FP, Off: form.SavedFP}
	if form.FP == q.Arch.FP {
		row.FP = saved
	} else {
		row.Others = &trad.OtherRules{Regs: []trad.RegRule{{Reg: form.FP, Rule: saved}}}
	}
	return row
}
