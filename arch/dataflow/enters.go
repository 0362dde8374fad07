package dataflow

import "github.com/sfwalk/sfwalk/trad"

// Code that begins a coroutine jumps to its first function, on a new stack. The function
// is to return to an address that is at the stack pointer already, or that the code pushes.

// maxEnters is how many instructions such code has at most.
const maxEnters = 8

// EntersFunction implements arch.Arch.EntersFunction.
func (m *Machine) EntersFunction(code []byte) (to trad.Reg, ra trad.Rule, ok bool) {
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	ops := *room
	pushed, wrote := None, Set(0)
	over := false // something else was stored where the return address is
	at := 0
	for range maxEnters {
		if at >= len(code) {
			break
		}
		var in Inst
		in, ops = m.Decode(code, at, ops[:0])
		if at += int(in.Len); at > len(code) {
			break
		}
		if in.Flow == Away && len(ops) == 0 && in.By < MaxRegs && !in.Return {
			ra = trad.Rule{Kind: trad.Saved, Off: m.Pushed}
			if pushed != None {
				ra = trad.Rule{Kind: trad.InReg, Reg: m.DWARF(pushed)}
			}
			return m.DWARF(in.By), ra, !over && !wrote.Has(in.By)
		}
		if in.Flow != Next {
			break
		}
		if pushed == None && m.pushesRegister(ops) && !wrote.Has(ops[0].Src) {
			pushed, over = ops[0].Src, false
			continue
		}
		wrote |= in.Kill
		for i := range ops {
			wrote |= ops[i].Dst.Bit()
			if o := &ops[i]; o.Kind == Store && o.Base == m.SP && o.Imm < int32(m.Word) {
				over = true
			}
		}
		if wrote.Has(m.SP) {
			break
		}
	}
	return 0, ra, false
}

// pushesRegister reports whether an instruction does no more than to push a register.
func (m *Machine) pushesRegister(ops []Op) bool {
	return len(ops) == 2 && ops[0].Kind == Store && ops[0].Base == m.SP && ops[0].Src < MaxRegs && ops[1] == Add(m.SP, m.SP, -int32(m.Word))
}
