package dataflow

import (
	"slices"

	"github.com/sfwalk/sfwalk/trad"
)

// Some code returns without a return instruction: it pops the return address into a register and
// jumps to it, with a fence between the two against speculation.

// maxReturn is how many instructions such a return has behind the one that pops.
const maxReturn = 4

// returnsBy reports whether the code from an offset on, in state s, does no more than to jump to
// the return address, which is in a register.
func (a *Analysis) returnsBy(s *State, at int32) bool {
	then := &a.another
	then.copy(s)
	for range maxReturn {
		in, ops := a.Peek(at)
		switch {
		case in.Flow == Away:
			return then.Reg(in.By) == OnEntry(a.m.RA)
		case in.Flow != Next || !in.harmless:
			return false
		}
		then.execute(in, ops, at)
		at += int32(in.Len)
	}
	return false
}

// ReturnPopped implements arch.Arch.ReturnPopped.
func (m *Machine) ReturnPopped(code []byte, before func() []byte) (by trad.Reg, ok bool) {
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	ops := *room
	r := None
	for at := 0; r == None; {
		if at >= len(code) {
			return 0, false
		}
		var in Inst
		in, ops = m.Decode(code, at, ops[:0])
		switch at += int(in.Len); {
		case in.Flow == Away && in.By != None && len(ops) == 0:
			r = in.By
		case in.Flow != Next || in.Kill != 0 || len(ops) > 0: // more than a fence
			return 0, false
		}
	}
	popped, at := false, 0
	code = before()
	for at < len(code) {
		var in Inst
		in, ops = m.Decode(code, at, ops[:0])
		at += int(in.Len)
		if in.Flow != Next || in.Kill&(r.Bit()|m.SP.Bit()) != 0 || slices.ContainsFunc(ops, func(o Op) bool {
			return o.Kind != Store && (o.Dst == r || o.Dst == m.SP)
		}) {
			popped = len(ops) == 2 && ops[0] == LoadFrom(r, m.SP, 0, m.Word) && ops[1] == Add(m.SP, m.SP, int32(m.Word))
		}
	}
	return m.DWARF(r), popped && at == len(code)
}

// maxPushed is how many instructions are looked at for the push of a return address and the return.
const maxPushed = 24

// ReturnPushed implements arch.Arch.ReturnPushed.
func (m *Machine) ReturnPushed(code []byte) (pushes, returns bool) {
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	ops := *room
	at := 0
	for range maxPushed {
		if at >= len(code) {
			break
		}
		var in Inst
		in, ops = m.Decode(code, at, ops[:0])
		if in.Flow == Bad && len(code)-at < int(m.MaxLen) {
			break // perhaps the code ends within it
		}
		if at += int(in.Len); at > len(code) {
			break
		}
		if in.Return && in.Flow == To {
			return pushes, pushes
		}
		if in.Flow != Next || in.Kill.Has(m.SP) {
			return false, false
		}
		switch {
		case m.pushesRegister(ops) && !pushes:
			pushes = true
		case slices.ContainsFunc(ops, func(o Op) bool { return o.Dst == m.SP || o.Kind == Store && o.Base == m.SP }):
			return false, false
		}
	}
	return pushes, false
}
