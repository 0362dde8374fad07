package dataflow

import "slices"

// Bounds of [Machine.Stores]: the states that are followed at one instruction, and that wait at the
// targets of jumps.
const (
	mostStates  = 4
	mostWaiting = 1 << 12
)

// Stores implements arch.CodeReader.Stores. It goes through the code once, from its beginning to
// its end, and takes with it the constants that are in registers on each way there: ways back are
// not followed.
func (m *Machine) Stores(code []byte, off int32, width int, yield func(at int, value uint64) bool) {
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	s := storing{m: m, off: off, width: width, yield: yield, waiting: map[int][]Constants{}}
	s.states = []Constants{{Machine: m}}
	var in Inst
	ops := *room
	for at := 0; at < len(code) && !s.done; at += int(in.Len) {
		s.states = joined(s.states, s.waiting[at])
		delete(s.waiting, at)
		if len(s.states) == 0 { // nothing is known of the way here
			s.states = append(s.states, Constants{Machine: m})
		}
		if in, ops = m.Decode(code, at, ops[:0]); in.Flow == Bad || in.Len == 0 {
			break
		}
		s.execute(&in, ops, at)
	}
}

// storing is one search for the constants that code stores.
type storing struct {
	m       *Machine
	off     int32
	width   int
	yield   func(at int, value uint64) bool
	states  []Constants         // before the instruction
	waiting map[int][]Constants // by the targets of jumps
	at      int
	done    bool
}

func (s *storing) execute(in *Inst, ops []Op, at int) {
	s.at = at
	for i := range s.states {
		x := storer{&s.states[i], s}
		x.Begin(in, uint64(at))
		for j := range ops {
			Execute(x, &ops[j])
		}
	}
	switch in.Flow {
	case Call:
		for i := range s.states {
			for r := range Reg(s.m.Regs) {
				if !s.m.Preserved.Has(r) {
					s.states[i].Regs[r] = Constant{}
				}
			}
		}
	case Jump, Branch, BranchNE:
		if to := int(in.Target); in.Target != NoTarget && to > at && (len(s.waiting) < mostWaiting || s.waiting[to] != nil) {
			s.waiting[to] = joined(s.waiting[to], s.states)
		}
	}
	switch in.Flow {
	case Jump, To, Away, Stop:
		s.states = s.states[:0]
	}
}

// joined adds states that are not in a list yet, as far as there is room.
func joined(list, more []Constants) []Constants {
	for _, x := range more {
		if len(list) < mostStates && !slices.ContainsFunc(list, func(y Constants) bool { return x.Regs == y.Regs }) {
			list = append(list, x)
		}
	}
	return list
}

// storer is a state with the search that it is for. It implements [Domain].
type storer struct {
	*Constants
	of *storing
}

// Store implements Domain.
func (x storer) Store(o *Op, _, v Constant) {
	s := x.of
	ahead := int64(s.off) - int64(o.Imm) // of what is sought, in what is stored
	if s.done || !v.Known || o.Index != None || o.Base == s.m.SP || o.Base >= MaxRegs ||
		ahead < 0 || ahead+int64(s.width) > int64(o.Width) || o.Width > 8 {
		return
	}
	value := v.Value >> (8 * ahead)
	if s.width < 8 {
		value &= 1<<(8*s.width) - 1
	}
	s.done = !s.yield(s.at, value)
}
