package pdata

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sfwalk/sfwalk/trad"
)

// DWARF's numbers of the registers, by the numbers that unwind codes have for them (System V ABI,
// AMD64 supplement, figure 3.36).
var registers = [16]trad.Reg{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

const (
	rsp  trad.Reg = 7
	rbp  trad.Reg = 6
	xmm0 trad.Reg = 17
)

// nonvolatile are the registers that a function must preserve, but rsp and rbp. ("Register usage")
var nonvolatile = []trad.Reg{3, 4, 5, 12, 13, 14, 15}

// nonvolatileOnUnix are the same by the System V ABI (AMD64 supplement, figure 3.4).
var nonvolatileOnUnix = []trad.Reg{3, 12, 13, 14, 15}

// Row returns the row for a frame at rva in f; Lo is an RVA, too. In an innermost frame, which no
// call has left, the code at rva may be an epilogue; in any other frame it is not. Row holds for
// the rest of the body, or of the prologue, around rva; for one instruction in an epilogue, and in
// an innermost frame's body, where an epilogue may begin at any instruction.
func (t *Table) Row(f Function, rva uint32, innermost bool) (trad.Row, error) {
	info, err := t.Info(f)
	if err != nil {
		return trad.Row{}, err
	}
	offset := rva - f.Begin
	u := newUnwinder()
	u.unix = t.unix
	if offset >= uint32(info.Prologue) {
		if innermost && t.epilogue(f, info, rva, u) {
			row, err := u.row(rva, 1)
			row.Flags |= trad.InPrologue
			return row, err
		}
		if innermost && info.InEpilogue(rva) {
			return trad.Row{}, errEpilogue
		}
		u.base(info, info.Codes)
		if err := u.undo(t, info, info.Codes); err != nil {
			return trad.Row{}, err
		}
		if innermost {
			return u.row(rva, 1)
		}
		begin := f.Begin + uint32(info.Prologue)
		return u.row(begin, f.End-begin)
	}
	// Codes are done whose instruction has ended. A prologue that takes much of the stack calls a
	// function first.
	done, lo, hi := info.Codes, uint32(0), uint32(info.Prologue)
	for len(done) > 0 && uint32(done[0].At) > offset {
		hi = min(hi, uint32(done[0].At))
		done = done[1:]
	}
	if len(done) > 0 {
		lo = uint32(done[0].At)
	}
	u.base(info, done)
	if err := u.undo(t, info, done); err != nil {
		return trad.Row{}, err
	}
	row, err := u.row(f.Begin+lo, hi-lo)
	row.Flags |= trad.InPrologue
	return row, err
}

var errEpilogue = errors.New("it is in an epilogue whose code is not at hand, or has no form that Windows knows")

// Leaf returns the row of a function without an entry, which changes neither rsp nor any register
// that it must preserve ("Unwind procedure"). Call it where [Table.Find] finds none.
func Leaf(rva uint32) trad.Row {
	row, _ := newUnwinder().row(rva, 1)
	return row
}

// place is an address: a register's value plus a number.
type place struct {
	reg trad.Reg
	off int64
}

// unwinder undoes what a prologue has done.
type unwinder struct {
	sp      place // rsp as it was at the instruction that is undone next
	frame   place // what SaveNonvol counts from
	saved   map[trad.Reg]place
	machine bool // the processor has made the frame: sp is at its RIP
	unix    bool // the code keeps to the System V ABI
}

func newUnwinder() *unwinder {
	return &unwinder{sp: place{rsp, 0}, saved: map[trad.Reg]place{}}
}

// base sets what registers' offsets count from: rsp, or what the frame pointer was set from once it
// is set.
func (u *unwinder) base(info *Info, done []Code) {
	u.frame = place{rsp, 0}
	if info.FPReg != 0 && (len(done) == len(info.Codes) || slices.ContainsFunc(done, func(c Code) bool { return c.Op == SetFPReg || c.Op == SetFPRegLarge })) {
		u.frame = place{registers[info.FPReg], -int64(info.FPOffset)}
	}
}

// undo undoes codes, and all codes of the entries that info is chained to.
func (u *unwinder) undo(t *Table, info *Info, codes []Code) error {
	for range maxChain {
		for _, c := range codes {
			u.undoCode(info, c)
			if u.machine {
				return nil
			}
		}
		if info.Chained == nil {
			return nil
		}
		next, err := t.Info(*info.Chained)
		if err != nil {
			return err
		}
		info, codes = next, next.Codes
	}
	return errChain
}

func (u *unwinder) undoCode(info *Info, c Code) {
	switch c.Op {
	case PushNonvol:
		u.save(registers[c.Info], u.sp)
		u.sp.off += 8
	case AllocSmall, AllocLarge:
		u.sp.off += int64(c.Size)
	case SetFPReg, SetFPRegLarge:
		u.sp = place{registers[info.FPReg], -int64(info.FPOffset)}
	case SaveNonvol, SaveNonvolFar:
		u.save(registers[c.Info], place{u.frame.reg, u.frame.off + int64(c.Offset)})
	case SaveXMM, SaveXMMFar:
		u.save(xmm0+trad.Reg(c.Info), place{u.frame.reg, u.frame.off + int64(c.Offset)})
	case PushMachFrame:
		u.sp.off += 8 * int64(c.Info)
		u.machine = true
	}
}

// save notes where a register is saved. What is saved once more is saved by the outer instruction,
// which is undone last.
func (u *unwinder) save(reg trad.Reg, at place) { u.saved[reg] = at }

// row returns the row of [lo, lo+n).
func (u *unwinder) row(lo, n uint32) (trad.Row, error) {
	more := &trad.OtherRules{Default: trad.Same}
	r := trad.Row{Lo: uint64(lo), Len: n, FP: trad.Rule{Kind: trad.Same}, Others: more}
	cfa := place{u.sp.reg, u.sp.off + 8}
	if cfa.off != int64(int32(cfa.off)) {
		return trad.Row{}, fmt.Errorf("a frame of %d bytes is too large", cfa.off)
	}
	r.CFA = trad.Rule{Kind: trad.InReg, Reg: cfa.reg, Off: int32(cfa.off)}
	r.RA = trad.Rule{Kind: trad.Saved, Off: -8}
	preserved := nonvolatile
	if u.unix {
		preserved, more.Default = nonvolatileOnUnix, trad.Undefined
	}
	for _, reg := range preserved {
		more.Regs = append(more.Regs, trad.RegRule{Reg: reg, Rule: trad.Rule{Kind: trad.Same}})
	}
	set := func(reg trad.Reg, rule trad.Rule) {
		if reg == rbp {
			r.FP = rule
			return
		}
		i, listed := slices.BinarySearchFunc(more.Regs, reg, func(x trad.RegRule, reg trad.Reg) int { return int(x.Reg) - int(reg) })
		if !listed {
			more.Regs = slices.Insert(more.Regs, i, trad.RegRule{Reg: reg})
		}
		more.Regs[i].Rule = rule
	}
	for reg, at := range u.saved {
		rule := trad.Rule{Kind: trad.SavedAt, Reg: at.reg, Off: int32(at.off)}
		off := at.off
		if at.reg == cfa.reg {
			off -= cfa.off
			rule = trad.Rule{Kind: trad.Saved, Off: int32(off)}
		}
		if off < math.MinInt32 || off > math.MaxInt32 {
			return trad.Row{}, fmt.Errorf("a register is saved %d bytes away: too far", off)
		}
		set(reg, rule)
	}
	if u.machine {
		// RIP, CS, RFLAGS, RSP, SS. PREVIOUS was interrupted, and has not called THIS.
		r.Flags |= trad.Signal
		set(rsp, trad.Rule{Kind: trad.Saved, Off: 16})
	}
	return r, nil
}
