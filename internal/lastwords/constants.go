package lastwords

import (
	"bytes"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// mostCode bounds the code of a function that is read, bytes.
const mostCode = 128 << 10

// argumentsOf returns the first n arguments of the call that a frame's function has made, each of
// the size of a pointer. They are constants that the code before the call has put into registers,
// behind the last place where another way may join. ok is false if one is not known.
func (f *finder) argumentsOf(caller *Frame, n int) (list []uint64, ok bool) {
	machine := dataflow.Of(f.arch)
	lo, ret := caller.Lo, caller.PC
	if machine == nil || lo == 0 || lo >= ret || ret > caller.Hi || caller.Hi-lo > mostCode {
		return nil, false
	}
	code := f.bytes(lo, int(caller.Hi-lo))
	if code == nil {
		return nil, false
	}
	where := argumentRegisters(f.arch, n)
	if where == nil {
		return nil, false
	}
	s := &constants{Constants: dataflow.Constants{Machine: machine}, lo: lo}
	joins := map[int64]bool{} // also from behind the call
	for _, collect := range []bool{true, false} {
		s.Forget()
		var ops []dataflow.Op
		for at := 0; at < len(code); {
			var in dataflow.Inst
			in, ops = machine.Decode(code, at, ops[:0])
			if in.Len == 0 {
				return nil, false
			}
			next := at + int(in.Len)
			if in.Flow == dataflow.Branch || in.Flow == dataflow.BranchNE || in.Flow == dataflow.Jump || in.Flow == dataflow.MaybeTo {
				joins[in.Target] = true
			}
			if collect {
				at = next
				continue
			}
			if joins[int64(at)] {
				s.Forget()
			}
			if next == int(ret-lo) && in.Flow == dataflow.Call {
				return s.values(where)
			}
			s.execute(uint64(at), &in, ops)
			if in.Flow != dataflow.Next && in.Flow != dataflow.Branch && in.Flow != dataflow.BranchNE {
				s.Forget()
			}
			at = next
		}
	}
	return nil, false
}

// argumentRegisters returns the registers that have the first arguments of a function, each of the
// size of a pointer, by the calling convention; nil if they are not all in registers.
func argumentRegisters(a *arch.Arch, n int) []trad.Reg {
	if a.Calls == nil {
		return nil
	}
	const sp = 1 << 20
	f := &abi.Func{}
	var args []abi.Value
	for i := range n {
		t := &abi.Type{Kind: abi.Pointer, Size: uint64(a.PtrSize)}
		mark := bytes.Repeat([]byte{byte(0x11 * (i + 1))}, a.PtrSize)
		f.Params, args = append(f.Params, t), append(args, abi.Value{Type: t, Bytes: mark})
	}
	call, err := a.Calls.PushDummyCall(f, args, sp, 0)
	if err != nil {
		return nil
	}
	var list []trad.Reg
	for i := range args {
		for _, r := range call.Registers {
			if bytes.Equal(r.Bytes, args[i].Bytes) {
				list = append(list, r.Reg)
			}
		}
	}
	if len(list) != n {
		return nil
	}
	return list
}

// constants is what registers hold as constants at one instruction.
type constants struct {
	dataflow.Constants
	lo uint64 // the address of the code
}

// execute executes the instruction at an offset of the code.
func (s *constants) execute(at uint64, in *dataflow.Inst, ops []dataflow.Op) {
	s.Begin(in, s.lo+at)
	for i := range ops {
		dataflow.Execute(s, &ops[i])
	}
}

// values returns the values of registers, by their DWARF numbers. ok is false if one is not known.
func (s *constants) values(where []trad.Reg) (list []uint64, ok bool) {
	for _, reg := range where {
		found := false
		for r := range dataflow.Reg(s.Machine.Regs) {
			if s.Machine.DWARF(r) == reg && s.Regs[r].Known {
				list, found = append(list, s.Regs[r].Value), true
				break
			}
		}
		if !found {
			return nil, false
		}
	}
	return list, true
}
