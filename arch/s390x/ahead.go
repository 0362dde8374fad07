package s390x

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/trad"
)

var machine = ahead.Machine{
	Step:      stepAhead,
	DWARF:     func(r uint8) trad.Reg { return trad.Reg(r) },
	FP:        uint8(R11),
	SP:        uint8(R15),
	RA:        R14,
	Base:      1<<F0 - 1,
	Changed:   uint64(^calleeOK),
	Preserved: preservedAhead(),
}

func preservedAhead() (list []uint8) {
	for _, r := range preserved {
		list = append(list, uint8(r))
	}
	return list
}

// stepAhead implements ahead.Machine.Step.
func stepAhead(code []byte, at int32, s *ahead.State) ahead.Way {
	o := decode(code, int(at))
	w := ahead.Way{Next: at + int32(o.len), Target: o.within(code)}
	get := func(r trad.Reg) ahead.Value { return s.Reg(uint8(min(r, ahead.MaxRegs))) }
	set := func(r trad.Reg, v ahead.Value) { s.Set(uint8(min(r, ahead.MaxRegs)), v) }
	out := func(kind ahead.Kind) ahead.Way {
		w.Kind, w.CFA, w.Link = kind, get(R15).Plus(saveArea), get(R14)
		return w
	}
	number := -1
	if n, ok := get(R1).Number(); ok {
		number = int(n)
	}
	if endsThread(code[at:], number) {
		w.Kind, w.CFA = ahead.End, ahead.Live(uint8(R15)).Plus(saveArea)
		return w
	}
	s.Kill(uint64(o.kill))
	compared := s.Compare(ahead.Value{})
	if (o.kind == opCompare || o.kind == opBranchNE) && o.dst == R15 {
		compared = get(o.src)
	} else if (o.kind == opCompare || o.kind == opBranchNE) && o.src == R15 {
		compared = get(o.dst)
	}
	if o.kind == opCompare {
		s.Compare(compared)
	}
	switch o.kind {
	case opMove:
		set(o.dst, get(o.src))
		if o.dst == R15 {
			s.Undo()
		}
	case opConst:
		set(o.dst, ahead.Constant(o.imm))
	case opLea:
		v := get(o.base)
		if o.src != noReg {
			v = v.Sum(get(o.src))
		}
		set(o.dst, v.Plus(o.imm))
		if o.dst == R15 && o.src == noReg && (o.base != R15 || o.imm > 0) {
			s.Undo()
		}
	case opSub:
		set(o.dst, get(o.base).Minus(get(o.src)))
	case opLoad:
		set(o.dst, s.Load(get(o.base).Plus(o.imm)))
		if o.dst == R15 {
			s.Undo()
		}
	case opLoads:
		at := get(o.base).Plus(o.imm)
		for r := o.dst; ; r, at = (r+1)&15, at.Plus(8) {
			set(r, s.Load(at))
			if r == R15 {
				s.Undo()
			}
			if r == o.last {
				break
			}
		}
	case opStore:
		s.Store(get(o.base).Plus(o.imm), int32(o.width), get(o.src))
	case opStores:
		at := get(o.base).Plus(o.imm)
		for r := o.dst; ; r, at = (r+1)&15, at.Plus(8) {
			s.Store(at, 8, get(r))
			if r == o.last {
				break
			}
		}
	case opCall:
		s.Kill(uint64(bit(R14)))
		w.Kind = ahead.Call
	case opJump:
		if w.Kind = ahead.Jump; w.Target == outside {
			w.Away = o.target
			return out(ahead.Leave)
		}
	case opBranch:
		w.Kind = ahead.Branch
	case opBranchNE:
		w.Kind, w.Equal, w.SP = ahead.Branch, compared, uint8(R15)
	case opJumpReg, opMaybeReg:
		switch {
		case o.src == R14 && o.kind == opMaybeReg:
			return out(ahead.Maybe)
		case o.src == R14:
			return out(ahead.Return)
		case o.kind == opMaybeReg:
			w.Kind = ahead.On
		case s.Undone():
			return out(ahead.Leave)
		default:
			w.Kind = ahead.Stop
		}
	case opJumpAway:
		if w.Kind = ahead.Stop; s.Undone() {
			return out(ahead.Leave)
		}
	case opStop, opBad:
		w.Kind = ahead.Stop
	}
	return w
}

// readAhead implements arch.Arch.ReadAhead.
func readAhead(code []byte, start, pc uint64, away func(addr uint64) ([]byte, uint64), yield func(row trad.Row, calls int) bool) (steps int) {
	return machine.Rows(code, start, pc, away, yield)
}

// keeps implements arch.Arch.Keeps.
func keeps(code []byte, start, entry, pc uint64) (kept []trad.Reg, steps int) {
	return machine.Kept(code, start, entry, pc)
}

// callTarget implements arch.Arch.CallTarget: brasl and bras say where they go.
func callTarget(code []byte, ra uint64) (target uint64, ok bool) {
	n := len(code)
	switch {
	case n >= 6 && code[n-6] == 0xc0 && code[n-5] == 0xe5:
		return ra - 6 + 2*uint64(int64(int32(binary.BigEndian.Uint32(code[n-4:])))), true
	case n >= 4 && code[n-4] == 0xa7 && code[n-3] == 0xe5:
		return ra - 4 + 2*uint64(int64(int16(binary.BigEndian.Uint16(code[n-2:])))), true
	}
	return 0, false
}
