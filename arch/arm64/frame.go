package arm64

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
	row.Lo, row.Len = start+uint64(a.at[i]), size
	if s.signed {
		row.Flags |= trad.MangledRA
	}
	if s.guess || a.unsound {
		row.Flags |= trad.Guess
	}
	if a.settingUp(i) || a.tearingDown(i) {
		row.Flags |= trad.InPrologue
	}
	if row.CFA, ok = s.cfaRule(); !ok {
		return trad.Row{}, "the stack pointer's way cannot be followed"
	}
	if row.RA, ok = s.rule(x30); !ok {
		return trad.Row{}, "the code has overwritten the return address"
	}
	row.FP, _ = s.rule(x29) // not tracked where its way cannot be followed
	row.More = s.rest()
	return row, ""
}

// around returns the index of the reached instruction that has offset off in it.
func (a *analysis) around(off int32) (i int32, ok bool) {
	i = a.index[off/size] - 1
	return i, i >= 0 && a.reached[i] && int(a.at[i])+size <= len(a.code)
}

// cfaRule returns the CFA: from r11 where it is the frame pointer, as compilers'
// tables have it, else from r15, else from another register, such as that which
// a loop that probes the stack is going to, or that r15 is saved in.
func (s *state) cfaRule() (rule trad.Rule, ok bool) {
	sp, fp := s.regs[rsp], s.regs[x29]
	if fp.base == cfa && (sp.base != cfa || sp == fp) && s.keeps(x29) {
		return trad.Rule{Kind: trad.InReg, Reg: X29, Off: -fp.off}, true
	}
	if sp.base == cfa {
		return trad.Rule{Kind: trad.InReg, Reg: SP, Off: -sp.off}, true
	}
	for r, v := range s.regs[:rsp] {
		if v.base == cfa {
			return trad.Rule{Kind: trad.InReg, Reg: dwarf(reg(r)), Off: -v.off}, true
		}
	}
	return trad.Rule{}, false
}

// rule returns the rule of a register that PREVIOUS wants back.
func (s *state) rule(r reg) (rule trad.Rule, ok bool) {
	if at, saved := s.savedAt(r); saved {
		if at.base == cfa {
			return trad.Rule{Kind: trad.Saved, Off: at.off}, true
		}
		if sp := s.regs[rsp]; sp.base == at.base {
			return trad.Rule{Kind: trad.SavedAt, Reg: SP, Off: at.off - sp.off}, true
		}
	}
	if s.regs[r] == entryOf(r) {
		return trad.Rule{Kind: trad.Same}, true
	}
	for x, v := range s.regs {
		if v == entryOf(r) {
			return trad.Rule{Kind: trad.InReg, Reg: dwarf(reg(x))}, true
		}
	}
	return trad.Rule{}, false
}

// dwarf returns the DWARF number of a register.
func dwarf(r reg) trad.Reg {
	if r >= v0 {
		return 64 + trad.Reg(r-v0)
	}
	return trad.Reg(r)
}

// unchanged is the Rest of a frame that has changed no register but x29, x30 and
// sp.
var unchanged = &trad.Rest{Unlisted: trad.Same}

// preserved are the registers that a call preserves and that have no cell of
// their own in a row, ascending by DWARF number.
var preserved = [...]reg{19, 20, 21, 22, 23, 24, 25, 26, 27, 28, v0 + 8, v0 + 9, v0 + 10, v0 + 11, v0 + 12, v0 + 13, v0 + 14, v0 + 15}

// rest returns the rules of the other registers that a call preserves.
func (s *state) rest() *trad.Rest {
	var regs []trad.RegRule
	for _, r := range preserved {
		// Where it cannot be followed it is listed as not tracked: that it is lost is
		// not known.
		rule, _ := s.rule(r)
		if rule.Kind != trad.Same {
			regs = append(regs, trad.RegRule{Reg: dwarf(r), Rule: rule})
		}
	}
	if regs == nil {
		return unchanged
	}
	return &trad.Rest{Regs: regs, Unlisted: trad.Same}
}
