package arm64

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/trad"
)

var machine = ahead.Machine{
	Step:      stepAhead,
	DWARF:     func(r uint8) trad.Reg { return dwarf(reg(r)) },
	FP:        uint8(x29),
	SP:        uint8(rsp),
	RA:        X30,
	Base:      1<<v0 - 1,
	Changed:   ^calleeOK,
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
	w := ahead.Way{Next: at + size, Target: o.within(code)}
	get := func(r reg) ahead.Value { return s.Reg(uint8(r)) }
	set := func(r reg, v ahead.Value) { s.Set(uint8(r), v) }
	out := func(kind ahead.Kind, link reg) ahead.Way {
		w.Kind, w.CFA, w.Link = kind, get(rsp), get(link)
		return w
	}
	if n, ok := get(8).Number(); ok && endsThread(code[at:], int(n)) {
		w.Kind, w.CFA = ahead.End, ahead.Live(uint8(rsp))
		return w
	}
	s.Kill(o.kill)
	compared := ahead.Value{}
	if o.kind == opCompare && o.dst == rsp {
		compared = get(o.src)
	} else if o.kind == opCompare && o.src == rsp {
		compared = get(o.dst)
	}
	compared = s.Compare(compared)
	switch o.kind {
	case opMove:
		set(o.dst, get(o.src))
	case opConst:
		set(o.dst, ahead.Constant(o.imm))
	case opKeep:
		set(o.dst, ahead.Value{})
	case opLea:
		v := get(o.base)
		if o.src != noReg {
			v = v.Sum(get(o.src))
		}
		set(o.dst, v.Plus(o.imm))
		if o.dst == rsp && o.src == noReg && (o.base != rsp || o.imm > 0) {
			s.Undo()
		}
	case opSub:
		set(o.dst, get(o.base).Minus(get(o.src)))
	case opLoad, opStore:
		transferAhead(&o, s)
	case opSign:
		s.Sign()
	case opCall:
		s.Kill(bit(x30))
		w.Kind = ahead.Call
	case opJump:
		if w.Kind = ahead.Jump; w.Target == outside {
			w.Away = o.target
			return out(ahead.Leave, x30)
		}
	case opBranch:
		w.Kind = ahead.Branch
	case opBranchNE:
		w.Kind, w.Equal, w.SP = ahead.Branch, compared, uint8(rsp)
	case opJumpReg:
		switch {
		case o.link:
			return out(ahead.Return, o.src)
		case s.Undone():
			return out(ahead.Leave, x30)
		}
		w.Kind = ahead.Stop
	case opStop, opBad:
		w.Kind = ahead.Stop
	}
	return w
}

// transferAhead executes a load or store.
func transferAhead(o *op, s *ahead.State) {
	base := s.Reg(uint8(o.base))
	at := base.Plus(o.imm)
	if o.pre {
		at = at.Plus(o.writeback)
	}
	width := int32(o.width)
	if o.kind == opStore {
		first, second := s.Reg(uint8(o.dst)), s.Reg(uint8(o.dst2))
		s.Store(at, width, first)
		if o.dst2 != noReg {
			s.Store(at.Plus(width), width, second)
		}
	}
	if o.writeback != 0 {
		s.Set(uint8(o.base), base.Plus(o.writeback))
		if o.base == rsp && o.writeback > 0 {
			s.Undo()
		}
	}
	if o.kind == opLoad {
		first, second := ahead.Value{}, ahead.Value{}
		if width == 8 {
			first, second = s.Load(at), s.Load(at.Plus(8))
		}
		s.Set(uint8(o.dst), first)
		s.Set(uint8(o.dst2), second)
	}
}

// readAhead implements arch.Arch.ReadAhead.
func readAhead(code []byte, start, pc uint64, away func(addr uint64) ([]byte, uint64), yield func(row trad.Row, calls int) bool) (steps int) {
	return machine.Rows(code, start, pc, away, yield)
}

// keeps implements arch.Arch.Keeps.
func keeps(code []byte, start, entry, pc uint64) (kept []trad.Reg, steps int) {
	return machine.Kept(code, start, entry, pc)
}

// callTarget implements arch.Arch.CallTarget: bl alone says where it goes.
func callTarget(code []byte, ra uint64) (target uint64, ok bool) {
	if len(code) < size {
		return 0, false
	}
	w := binary.LittleEndian.Uint32(code[len(code)-size:])
	return ra - size + uint64(int64(signed(w, 26))*4), w>>26 == 0x25
}
