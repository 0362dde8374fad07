package s390x

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// Bounds of the code that readFrame looks at, in bytes.
const (
	maxBefore = 1 << 20  // from the entry to the pc
	maxBehind = 64 << 10 // from the pc on
)

// readFrame implements arch.Arch.ReadFrame.
func readFrame(code []byte, start, pc uint64) (row trad.Row, steps int, why string) {
	return read(code, start, pc, false)
}

// readReached implements arch.Arch.ReadReached.
func readReached(code []byte, start, pc uint64) (row trad.Row, steps int, why string) {
	return read(code, start, pc, true)
}

func read(code []byte, start, pc uint64, reached bool) (row trad.Row, steps int, why string) {
	off := pc - start
	switch {
	case pc < start || off >= uint64(len(code)):
		return trad.Row{}, 0, "the pc is outside the code"
	case off > maxBefore:
		return trad.Row{}, 0, "the function is too long"
	}
	code = code[:min(uint64(len(code)), off+maxBehind)]
	a := analyse(code, nil, reached)
	row, why = a.row(start, int32(off))
	return row, a.steps, why
}

// readSplit implements arch.Arch.ReadSplit.
func readSplit(code *arch.Split, pc uint64) (row trad.Row, steps int, why string) {
	off, ok := code.Offset(pc)
	if !ok {
		return trad.Row{}, 0, "the pc is outside the code"
	}
	a := analyse(code.Code, code, false)
	row, why = a.row(0, off)
	row.Lo = code.Address(int32(row.Lo))
	return row, a.steps, why
}

// row returns the row for the instruction at offset off, or around it.
func (a *analysis) row(start uint64, off int32) (row trad.Row, why string) {
	i, ok := a.around(off)
	if !ok {
		return trad.Row{}, "no way through the code leads to the pc"
	}
	s := &a.states[i]
	row.Lo, row.Len = start+uint64(a.at[i]), uint32(a.ops[i].len)
	if s.guess || a.unsound {
		row.Flags |= trad.Guess
	}
	if a.settingUp(i) || a.tearingDown(i) {
		row.Flags |= trad.InPrologue
	}
	if row.CFA, ok = s.cfaRule(); !ok {
		return trad.Row{}, "the stack pointer's way cannot be followed"
	}
	if row.RA, ok = s.rule(R14); !ok {
		return trad.Row{}, "the code has overwritten the return address"
	}
	if row.FP, ok = s.rule(R11); !ok {
		row.FP = trad.Rule{Kind: trad.Undefined}
	}
	row.More = s.rest()
	return row, ""
}

// around returns the index of the reached instruction that has offset off in it:
// the one that begins there if any.
func (a *analysis) around(off int32) (i int32, ok bool) {
	for back := int32(0); back < 6 && back <= off; back++ {
		i = a.index[off-back] - 1
		if i >= 0 && a.reached[i] && int32(a.ops[i].len) > back {
			return i, true
		}
	}
	return 0, false
}

// cfaRule returns the CFA: from r11 where it is the frame pointer, as compilers'
// tables have it, else from r15, else from another register, such as that which
// a loop that probes the stack is going to, or that r15 is saved in.
func (s *state) cfaRule() (rule trad.Rule, ok bool) {
	sp, fp := s.regs[R15], s.regs[R11]
	if fp.base == cfa && (sp.base != cfa || sp == fp) && s.keeps(R11) {
		return trad.Rule{Kind: trad.InReg, Reg: R11, Off: -fp.off}, true
	}
	if sp.base == cfa {
		return trad.Rule{Kind: trad.InReg, Reg: R15, Off: -sp.off}, true
	}
	for r, v := range s.regs {
		if v.base == cfa {
			return trad.Rule{Kind: trad.InReg, Reg: trad.Reg(r), Off: -v.off}, true
		}
	}
	return trad.Rule{}, false
}

// rule returns the rule of a register that PREVIOUS wants back.
func (s *state) rule(r trad.Reg) (rule trad.Rule, ok bool) {
	if at, saved := s.savedAt(r); saved {
		if at.base == cfa {
			return trad.Rule{Kind: trad.Saved, Off: at.off}, true
		}
		if sp := s.regs[R15]; sp.base == at.base {
			return trad.Rule{Kind: trad.SavedAt, Reg: R15, Off: at.off - sp.off}, true
		}
	}
	if s.regs[r] == entryOf(r) {
		return trad.Rule{Kind: trad.Same}, true
	}
	for x, v := range s.regs {
		if v == entryOf(r) {
			return trad.Rule{Kind: trad.InReg, Reg: trad.Reg(x)}, true
		}
	}
	return trad.Rule{}, false
}

// unchanged is the Rest of a frame that has changed no register but r11, r14 and
// r15.
var unchanged = &trad.Rest{Unlisted: trad.Same}

// preserved are the registers that a call preserves and that have no cell of
// their own in a row, ascending.
var preserved = [...]trad.Reg{R6, R7, R8, R9, R10, R12, R13, F8, F10, F12, F14, F9, F11, F13, F15}

// rest returns the rules of the other registers that a call preserves.
func (s *state) rest() *trad.Rest {
	var regs []trad.RegRule
	for _, r := range preserved {
		rule, ok := s.rule(r)
		if !ok {
			rule = trad.Rule{Kind: trad.Undefined}
		}
		if rule.Kind != trad.Same {
			regs = append(regs, trad.RegRule{Reg: r, Rule: rule})
		}
	}
	if regs == nil {
		return unchanged
	}
	return &trad.Rest{Regs: regs, Unlisted: trad.Same}
}
