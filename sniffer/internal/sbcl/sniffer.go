package sbcl

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/sbcl"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state.
type Sniffer struct{}

func (*Sniffer) Name() string { return "sbcl" }

const (
	inFile    = frame.Answer("PC is in a file's code")
	noRuntime = frame.Answer("no run time of SBCL is mapped")
	unknown   = frame.Answer("SBCL's code is not known on this processor, or of this release")
	otherCode = frame.Answer("PC is in no code that SBCL has compiled")
	notThere  = frame.Answer("the code says where the return address is, and there is none")
	noEffort  = frame.Answer("too much code without tables was looked at already")
)

func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Module != nil {
		if _, _, err := q.Module.Image(); err == nil {
			return gate(q)
		}
	}
	r, err := sbcl.Of(q.Modules, q.Memory, q.Arch)
	switch {
	case err == sbcl.ErrNone:
		return trad.Row{}, noRuntime
	case err != nil:
		return trad.Row{}, unknown
	}
	kind := r.At(q.AddressInBlock)
	if kind == sbcl.Nothing {
		return trad.Row{}, otherCode
	}
	if !q.MaySearch() {
		return trad.Row{}, noEffort
	}
	code, ok := sbcl.Code{}, false
	if kind == sbcl.Lisp {
		code, ok = r.Find(q.Modules.MemoryOr(q.Memory), q.AddressInBlock)
		q.CountSearched(int(q.AddressInBlock-code.Start) / objectsOver)
	}
	moment := arch.SBCLRuns
	switch {
	case !ok && !q.Innermost():
		return trad.Row{}, otherCode
	case !ok && kind == sbcl.Linkage:
		moment = arch.SBCLLeft
	case !ok:
		moment = arch.SBCLEntered // an object of few instructions, which jumps to a function
	case code.Routines:
		return routine(q, r, &code)
	case q.Innermost():
		moment = q.Arch.SBCL(q.Code())
	}
	return at(q, moment)
}

// gate returns the row of a function of C that has called Lisp. Where it has no table, its code
// misleads: it goes on on another stack, which another function has prepared.
func gate(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Innermost() || !sbcl.In(q.Module) {
		return trad.Row{}, inFile
	}
	r, err := sbcl.Of(q.Modules, q.Memory, q.Arch)
	if err != nil {
		return trad.Row{}, inFile
	}
	for _, g := range r.Gates {
		if q.AddressInBlock < g.Lo || q.AddressInBlock >= g.Hi || !q.Arch.SBCLGate.Begins(q.Read(g.Lo, maxGate)) {
			continue
		}
		row, why := at(q, arch.SBCLRuns)
		row.Flags |= trad.OtherStack
		saved := &trad.OtherRules{Default: trad.Undefined}
		for i, reg := range q.Arch.SBCLGate.Saved {
			saved.Regs = append(saved.Regs, trad.RegRule{Reg: reg, Rule: trad.Rule{Kind: trad.Saved, Off: int32(-8*i - 24)}})
		}
		row.Others = saved
		return row, why
	}
	return trad.Row{}, inFile
}

// maxGate is how much of the code is looked at by which a gate begins, bytes.
const maxGate = 16

// objectsOver is how many bytes of objects that are looked through count as one instruction of a
// search.
const objectsOver = 256

// at returns the row of a frame at a moment.
func at(q *frame.Query, moment arch.SBCLMoment) (trad.Row, frame.Answer) {
	const record = 16 // bytes
	a := q.Arch
	row := trad.Row{
		Lo: q.PC, Len: 1,
		CFA: trad.Rule{Kind: trad.InReg, Reg: a.FP, Off: record}, RA: trad.Rule{Kind: trad.Saved, Off: -8}, FP: trad.Rule{Kind: trad.Saved, Off: -record},
		Others: &trad.OtherRules{Default: trad.Undefined},
	}
	switch moment {
	case arch.SBCLEntered:
		row.RA = trad.Rule{Kind: trad.SavedAt, Reg: a.SP}
	case arch.SBCLLeft:
		row.CFA, row.FP = trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: 8}, trad.Rule{Kind: trad.Same}
	case arch.SBCLReturns:
		row.CFA, row.FP = trad.Rule{Kind: trad.InReg, Reg: a.SBCLValues.CFA}, trad.Rule{Kind: trad.Same}
	case arch.SBCLCalls:
		fp := q.This.Register(a.FP)
		if own, ok := q.Word(fp.Bits); fp.Known() && ok {
			row.CFA = trad.Rule{Kind: trad.ValExpr}
			row.Others = &trad.OtherRules{Default: trad.Undefined, Exprs: []trad.Expression{trad.Constant(own + record)}}
			row.Flags = trad.Once
		}
	}
	if !returns(q, &row) {
		return trad.Row{}, notThere
	}
	return row, frame.Claimed
}

// returns reports whether a row leads to a return address.
func returns(q *frame.Query, row *trad.Row) bool {
	to, ok := q.Apply(row)
	if !ok {
		return false
	}
	follows, _ := q.FollowsCall(to.PC.Bits)
	return follows
}

// routine returns the row of an assembly routine. Most are called, and return. Some stand between a
// call and the function that it is of, or go on in the frame of the function that has jumped there.
func routine(q *frame.Query, r *sbcl.Runtime, c *sbcl.Code) (trad.Row, frame.Answer) {
	mem := q.Modules.MemoryOr(q.Memory)
	routine, ok := r.Routine(mem, c, q.AddressInBlock)
	if !ok {
		return trad.Row{}, notThere
	}
	text := make([]byte, min(routine.Hi-routine.Lo, maxRoutine))
	n, _ := mem.ReadMemory(routine.Lo, text)
	text = text[:n]
	switch routine.Name {
	case "CALL-SYMBOL", "UNDEFINED-TRAMP":
		if row, why := at(q, arch.SBCLEntered); why == frame.Claimed {
			return row, why
		}
		return at(q, arch.SBCLRuns)
	case "RETURN-MULTIPLE", "RETURN-VALUES-LIST":
		moment := q.Arch.SBCL(q.Code())
		if ra, ok := q.Arch.SBCLValues.Moves(text, int(q.PC-routine.Lo)); ok && moment == arch.SBCLRuns {
			row := trad.Row{
				Lo: q.PC, Len: 1,
				CFA: trad.Rule{Kind: trad.InReg, Reg: q.Arch.SBCLValues.CFA}, RA: trad.Rule{Kind: trad.InReg, Reg: ra}, FP: trad.Rule{Kind: trad.Same},
				Others: &trad.OtherRules{Default: trad.Undefined},
			}
			if returns(q, &row) {
				return row, frame.Claimed
			}
		}
		return at(q, moment)
	case "TAIL-CALL-VARIABLE", "TAIL-CALL-CALLABLE-VARIABLE", "THROW", "UNWIND":
		return at(q, arch.SBCLRuns)
	}
	row, steps, why := q.Arch.ReadReached(text, routine.Lo, q.PC)
	q.CountSearched(steps)
	if row.Others = (&trad.OtherRules{Default: trad.Undefined}); why == "" && returns(q, &row) {
		return row, frame.Claimed
	}
	// What it has called has taken a frame record with it.
	if row, why := at(q, arch.SBCLLeft); why == frame.Claimed {
		return row, why
	}
	return at(q, arch.SBCLRuns)
}

// maxRoutine bounds the code of a routine, bytes.
const maxRoutine = 4 << 10
