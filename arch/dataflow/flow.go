package dataflow

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch"
)

// Bounds of one analysis. A function of 64 KiB has some 16,000 instructions.
const (
	maxInsts  = 1 << 16 // instructions looked at
	maxSteps  = 1 << 18 // instructions executed, again and again for loops and restarts
	maxProbe  = 6       // instructions of a loop that touches pages
	maxBlamed = 128     // calls found not to return, each of which restarts the analysis
)

// An Analysis has the state before each instruction of a function that can be reached.
type Analysis struct {
	m       *Machine
	code    []byte
	split   *arch.SplitFunction // what code is made of; nil where it is one piece
	index   []int32             // by offset/Align: 1 + the index of the node there, 0 where none has been decoded
	nodes   []node
	ops     []Op
	work    []int32 // instructions whose state has changed
	seeds   []seed
	choices []seed  // behind computed jumps
	blamed  []int32 // offsets of calls that do not return
	steps   int
	certain bool // nothing is guessed
	jumps   bool // what is guessed now stands behind a computed jump
	unsound bool // a contradiction is left, or the bounds were met: nothing is certain

	pool         []Value // room for the registers of states to come
	now, another State   // now is the state of the instruction that is executed; another is for who needs one more
}

// A node is an instruction, at an offset, and the state before it where it is reached.
type node struct {
	in      Inst
	at      int32
	reached bool
	state   packed
}

// outside is the target of a branch that leaves the code.
const outside = -1

// Analyse analyses the code of a function. split says where the parts of a function in several
// pieces are; nil for one piece. If reached is set, the analysis leaves out what the flow of
// control does not reach, and guesses nothing.
func (m *Machine) Analyse(code []byte, split *arch.SplitFunction, reached bool) *Analysis {
	n := min(len(code)/4, 4096) // as many instructions as most functions have
	if reached {
		n = min(n, 256) // what is no function ends soon
	}
	a := &Analysis{
		m: m, code: code, split: split, certain: reached, index: make([]int32, len(code)/int(m.Align)+1),
		nodes: make([]node, 0, n), ops: make([]Op, 0, n), pool: make([]Value, 4*n),
	}
	for a.follow() || !reached && a.fill() {
	}
	a.unsound = a.unsound || m.Apart != nil && m.Apart(code)
	return a
}

// Cost returns what the analysis has cost: how many instructions were executed, how many
// decoded, and how many guesses made.
func (a *Analysis) Cost() (steps, insts, guesses int) { return a.steps, len(a.nodes), len(a.seeds) }

// follow follows the flow from the entry. It reports whether a call has been blamed, so
// that all is to be done again.
func (a *Analysis) follow() (again bool) {
	for i := range a.nodes {
		a.nodes[i].reached = false
	}
	a.seeds, a.choices, a.work = a.seeds[:0], a.choices[:0], a.work[:0]
	if !a.enter(0) || !a.drain() {
		return true
	}
	a.land()
	return false
}

// enter arrives with the state of an entry.
func (a *Analysis) enter(at int32) (ok bool) {
	a.another.enter(a.m)
	return a.arrive(at, &a.another)
}

// target returns the offset that the branch in at an offset leads to.
func (a *Analysis) target(in *Inst, at int32) int32 {
	if a.split != nil && in.Target != NoTarget {
		return a.split.Target(at, in.Target)
	}
	return in.Within(a.code)
}

// Within returns the offset into code that the branch leads to, negative where it is outside.
func (in *Inst) Within(code []byte) int32 {
	if in.Target >= 0 && in.Target < int64(len(code)) {
		return int32(in.Target)
	}
	return outside
}

// drain runs until no state changes; ok is false where a call has been blamed.
func (a *Analysis) drain() (ok bool) {
	for len(a.work) > 0 {
		i := a.work[len(a.work)-1]
		a.work = a.work[:len(a.work)-1]
		if !a.run(i) {
			return false
		}
	}
	return true
}

// find returns the index of the instruction at an offset, which it decodes if it must.
func (a *Analysis) find(at int32) (i int32, ok bool) {
	if at < 0 || int(at) >= len(a.code) || at%a.m.Align != 0 || a.split != nil && !a.split.Holds(at) {
		return 0, false
	}
	place := &a.index[at/a.m.Align]
	if *place > 0 {
		return *place - 1, true
	}
	if len(a.nodes) >= maxInsts {
		a.unsound = true
		return 0, false
	}
	first := len(a.ops)
	in, ops := a.m.Decode(a.code, int(at), a.ops)
	in.first, in.n = int32(first), uint8(len(ops)-first)
	in.settle(a.m, ops[first:])
	a.ops = ops
	a.nodes = append(a.nodes, node{in: in, at: at})
	*place = int32(len(a.nodes))
	return *place - 1, true
}

// opsOf returns the micro-operations of an instruction.
func (a *Analysis) opsOf(in *Inst) []Op { return a.ops[in.first:][:in.n] }

// Peek returns the instruction at an offset, and its micro-operations, for a look ahead.
func (a *Analysis) Peek(at int32) (*Inst, []Op) {
	if i, ok := a.find(at); ok {
		return &a.nodes[i].in, a.opsOf(&a.nodes[i].in)
	}
	return &Inst{Flow: Bad}, nil
}

// Target returns the offset that the branch at an offset leads to, negative where it is outside or
// there is none.
func (a *Analysis) Target(at int32) int32 {
	in, _ := a.Peek(at)
	if in.Target == NoTarget {
		return outside
	}
	return a.target(in, at)
}

// run executes the instruction with index i in its state and hands the outcome to what
// follows. ok is false where a call has been blamed.
func (a *Analysis) run(i int32) (ok bool) {
	if a.steps++; a.steps > maxSteps {
		a.unsound, a.work = true, a.work[:0]
		return true
	}
	in, at := a.nodes[i].in, a.nodes[i].at // copied: looking ahead may move them
	s, m := &a.now, a.m
	a.load(s, &a.nodes[i].state)
	next := at + int32(in.Len)
	switch in.Flow {
	case Bad:
		if m.Align > 1 { // else nobody knows where the next one begins
			a.guess(next, s)
		}
		return true
	case Stop, Away:
		a.jumps = in.Flow == Away
		a.guess(next, s)
		a.jumps = false
		return true
	case To:
		a.guess(next, s)
		s.execute(&in, a.opsOf(&in), at) // what it restores on the way
		return a.leaves(in.By, s)
	case MaybeTo:
		if !a.leaves(in.By, s) {
			return false
		}
	case Jump:
		a.guess(next, s)
	case Call:
		if a.split != nil && a.target(&in, at) == a.split.Cold && !a.enter(a.split.Cold) {
			return false // a function of its own after all
		}
		if slices.Contains(a.blamed, at) {
			a.guess(next, s)
			return true
		}
		if m.Spares != nil && m.Spares(a, s, next) {
			in.Flow = Next
		}
	}
	had := [2]Value{s.Reg(m.FP), s.Reg(m.SP)}
	call, ops := s.call, a.opsOf(&in)
	blames := call != noCall && !s.guess
	pushed := blames && s.hasPushed()
	again := s.execute(&in, ops, at)
	lost := func() bool { return pushed && !s.hasPushed() && !a.returnsBy(s, next) }
	if blames && (again || lost() || in.unloads && s.strays(ops, had[1])) && !a.blame(call) {
		return false
	}
	switch in.Flow {
	case Jump:
		return a.arrive(a.target(&in, at), s)
	case Branch, BranchNE:
		if a.probes(&in, at, s) {
			s.Set(m.SP, Value{}, at)
		}
		compared := s.compared
		s.compared, s.teardown = nothing, intact
		if !a.arrive(a.target(&in, at), s) {
			return false
		}
		if s.compared = compared; in.Flow == BranchNE {
			s.equal(at)
		}
		s.compared = nothing
	case Call:
		s.called(at)
		if m.Pops != nil {
			if n := m.Pops(a, s, next); n != 0 {
				s.Set(m.SP, s.Reg(m.SP).Plus(n), at)
			}
		}
	}
	if m.Regain != nil {
		for k, r := range [...]Reg{m.FP, m.SP} {
			if had[k].base == cfa && s.Reg(r).base != cfa {
				m.Regain(a, s, r, next)
			}
		}
	}
	return a.arrive(next, s)
}

// probes reports whether the branch at offset at ends a loop of -fstack-clash-protection: one that
// lowers the stack pointer step by step, and touches each page that alloca makes. The loop ends
// when the stack pointer equals another register, which is at no known distance from the CFA.
func (a *Analysis) probes(in *Inst, at int32, s *State) bool {
	sp, end := s.compared[0], s.compared[1]
	if end == a.m.SP {
		sp, end = end, sp
	}
	if sp != a.m.SP || end == None || s.Reg(end).onStack() {
		return false
	}
	from, lowered := at+int32(in.Len), false
	if to := a.target(in, at); to != outside && to < at {
		from = to
	}
	for range maxProbe {
		if from == at {
			return lowered
		}
		step, ops := a.Peek(from)
		switch {
		case step.Flow == Jump:
			to := a.target(step, from)
			return lowered && to != outside && to <= at
		case step.Flow != Next:
			return false
		case len(ops) == 1 && ops[0].Kind == Sum && ops[0].Dst == sp && ops[0].Base == sp && ops[0].Index == None && ops[0].Imm < 0:
			lowered = true
		}
		from += int32(step.Len)
	}
	return false
}

// hasPushed reports whether the return address is where a call has pushed it: where it is
// gone, a frame is taken down that was never made.
func (s *State) hasPushed() bool {
	if !s.m.pushes() {
		return false
	}
	_, ok := s.savedAt(s.m.RA)
	return ok
}

// strays reports whether an instruction, which has led to s, loaded a register to take the
// frame down from where it is not: SP was sp before, in a frame that was never made.
func (s *State) strays(ops []Op, sp Value) bool {
	if sp.base != cfa {
		return false
	}
	for i := range ops {
		r := ops[i].Dst
		if ops[i].Kind != Load || !s.m.Unloaded.Has(r) {
			continue
		}
		want := OnEntry(r)
		if r == s.m.SP {
			if len(ops) == 1 {
				continue // alone: another stack
			}
			want = FromCFA(s.m.EntrySP)
		}
		if s.Reg(r) != want {
			return true
		}
	}
	return false
}

// leaves looks at a branch to where a register says: a return, unless that is the case of a
// switch or another function. ok is false where it is one that cannot be, so that a call has
// been blamed.
func (a *Analysis) leaves(by Reg, s *State) (ok bool) {
	to := s.Reg(by)
	if by == a.m.RA && a.m.pushes() {
		to = OnEntry(by)
	}
	switch {
	case s.guess:
	case to.base == behind:
		return a.blame(to.off) // no function goes back to where a call of its own came from
	case to == OnEntry(a.m.RA):
		if sp := s.Reg(a.m.SP); sp.base == cfa && sp.off != a.m.EntrySP {
			return a.blame(s.call)
		}
	}
	return true
}

// arrive joins a state to what is known at an offset. ok is false where that made a call
// blamed.
func (a *Analysis) arrive(at int32, s *State) (ok bool) {
	i, ok := a.find(at)
	if !ok {
		return true
	}
	have := &a.nodes[i].state
	switch {
	case s.guess && !a.nodes[i].reached && a.splits(i):
		return true // it was no code that led here
	case !a.nodes[i].reached:
		a.store(have, s)
		a.nodes[i].reached = true
	case s.guess:
		// The first guess stays, and so does what is certain, unless it is certain only because a
		// call comes back.
		if !have.guess && have.justCall && have.contradicts(s) {
			return a.blame(have.call)
		}
		return true
	default:
		if have.loses(s) && have.contradicts(s) {
			deep := have.deeper(s)
			switch {
			case s.justCall:
				return a.blame(s.call)
			case have.justCall:
				return a.blame(have.call)
			case deep && have.call != noCall:
				return a.blame(have.call)
			case s.call != noCall:
				return a.blame(s.call)
			case have.call != noCall:
				return a.blame(have.call)
			}
		}
		// What goes back to the entry leaves it as every caller does.
		if at == 0 || !have.merge(s) {
			return true
		}
	}
	a.work = append(a.work, i)
	return true
}

// splits reports whether the instruction with index i begins or ends inside one that certainly is
// one: data that stands behind code may be taken for a branch to there.
func (a *Analysis) splits(i int32) bool {
	align := a.m.Align
	certain := func(at int32) (end int32, ok bool) {
		j := a.index[at/align] - 1
		if j < 0 || !a.nodes[j].reached || a.nodes[j].state.guess {
			return 0, false
		}
		return at + int32(a.nodes[j].in.Len), true
	}
	at := a.nodes[i].at
	for before := max(0, at-a.m.MaxLen+align); before < at; before += align {
		if end, ok := certain(before); ok && end > at {
			return true
		}
	}
	end := min(at+int32(a.nodes[i].in.Len), int32(len(a.code)))
	for behind := at + align; behind < end; behind += align {
		if _, ok := certain(behind); ok {
			return true
		}
	}
	return false
}

// blame notes that a call does not return. ok is true where there is none to blame, and then
// the contradiction stays.
func (a *Analysis) blame(call int32) (ok bool) {
	if call == noCall || len(a.blamed) >= maxBlamed {
		a.unsound = true
		return true
	}
	a.blamed = append(a.blamed, call)
	return false
}
