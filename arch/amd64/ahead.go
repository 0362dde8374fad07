package amd64

import (
	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/trad"
)

var machine = ahead.Machine{
	Step:      stepAhead,
	DWARF:     func(r uint8) trad.Reg { return trad.Reg(r) },
	FP:        uint8(RBP),
	SP:        uint8(RSP),
	RA:        RIP,
	RAOffset:  -8,
	Base:      1<<nRegs - 1,
	Changed:   (1<<nRegs - 1) &^ calleeOK,
	Preserved: []uint8{uint8(RBX), uint8(R12), uint8(R13), uint8(R14), uint8(R15)},
}

// stepAhead implements ahead.Machine.Step.
func stepAhead(code []byte, at int32, s *ahead.State) ahead.Way {
	o := decode(code, int(at))
	w := ahead.Way{Next: at + int32(o.len), Target: o.within(code)}
	reg := func(r trad.Reg) ahead.Value { return s.Reg(uint8(min(r, ahead.MaxRegs))) }
	set := func(r trad.Reg, v ahead.Value) { s.Set(uint8(min(r, ahead.MaxRegs)), v) }
	push := func(v ahead.Value) {
		set(RSP, reg(RSP).Plus(-8))
		s.Store(reg(RSP), 8, v)
	}
	n, isNumber := reg(RAX).Number()
	if isNumber && endsThread(code[at:], int(n)) {
		w.Kind, w.CFA = ahead.End, ahead.Live(uint8(RSP)).Plus(8)
		return w
	}
	s.Kill(uint64(o.kill))
	switch { // how small code makes the number
	case o.len == 2 && code[at] == 0x31 && code[at+1] == 0xc0: // xor eax,eax
		set(RAX, ahead.Constant(0))
	case o.len == 2 && code[at] == 0xb0 && isNumber: // mov al,n
		set(RAX, ahead.Constant(n&^0xff|int32(code[at+1])))
	}
	compared := ahead.Value{}
	if o.kind == opCompare && o.dst == RSP {
		compared = reg(o.src)
	} else if o.kind == opCompare && o.src == RSP {
		compared = reg(o.dst)
	}
	compared = s.Compare(compared)
	switch o.kind {
	case opPush:
		push(reg(o.src))
	case opCallNext:
		push(ahead.Value{})
	case opPop:
		v := s.Load(reg(RSP))
		set(RSP, reg(RSP).Plus(8))
		set(o.dst, v)
		s.Undo()
	case opMove:
		set(o.dst, reg(o.src))
	case opConst:
		set(o.dst, ahead.Constant(o.imm))
	case opLea:
		set(o.dst, reg(o.base).Plus(o.imm))
	case opLoad:
		set(o.dst, s.Load(reg(o.base).Plus(o.imm)))
	case opStore:
		s.Store(reg(o.base).Plus(o.imm), int32(o.width), reg(o.src))
	case opAdd:
		set(o.dst, reg(o.dst).Plus(o.imm))
	case opAddReg:
		set(o.dst, reg(o.dst).Sum(reg(o.src)))
	case opSubReg:
		set(o.dst, reg(o.dst).Minus(reg(o.src)))
	case opSwap:
		a, b := reg(o.dst), reg(o.src)
		set(o.dst, b)
		set(o.src, a)
	case opAlign:
		set(o.dst, ahead.Value{})
	case opLeave:
		v := s.Load(reg(RBP))
		set(RSP, reg(RBP).Plus(8))
		set(RBP, v)
	case opEnter:
		push(reg(RBP))
		set(RBP, reg(RSP))
		set(RSP, reg(RSP).Plus(-o.imm))
	case opCall:
		w.Kind = ahead.Call
	case opJump:
		if w.Kind = ahead.Jump; w.Target == outside {
			w.Kind, w.CFA, w.Away = ahead.Leave, reg(RSP).Plus(8), o.target
		}
	case opBranch:
		w.Kind = ahead.Branch
	case opBranchNE:
		w.Kind, w.Equal, w.SP = ahead.Branch, compared, uint8(RSP)
	case opJumpAway:
		w.Kind = ahead.Stop
		if to := reg(o.src); s.Undone() && s.Kept(to) { // popped before: another way to return
			w.Kind, w.CFA, w.Link = ahead.Return, reg(RSP), to
		} else if s.Undone() {
			w.Kind, w.CFA = ahead.Leave, reg(RSP).Plus(8)
		}
	case opReturn:
		w.Kind, w.CFA = ahead.Return, reg(RSP).Plus(8)
	case opStop, opBad:
		w.Kind = ahead.Stop
	}
	if o.tearsDown() {
		s.Undo()
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

// callTarget implements arch.Arch.CallTarget: call rel32 alone says where it goes.
func callTarget(code []byte, ra uint64) (target uint64, ok bool) {
	n := len(code)
	if n < 5 || code[n-5] != 0xe8 {
		return 0, false
	}
	return ra + uint64(int64(int32(uint32(code[n-4])|uint32(code[n-3])<<8|uint32(code[n-2])<<16|uint32(code[n-1])<<24))), true
}
