package amd64

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
)

// Bounds of one analysis. A function of 64 KiB has some 15,000 instructions.
const (
	maxOps    = 1 << 16 // instructions looked at
	maxSteps  = 1 << 18 // instructions executed, again and again for loops and restarts
	maxBlamed = 128     // calls found not to return, each of which restarts the analysis
)

// An analysis follows the flow of control from a function's entry and finds the
// state at each instruction that is reached.
//
// Calls are taken to return. Where that leads to a contradiction (two depths of
// the stack at one instruction, a register that one path has saved and the other
// has not touched, a return from a wrong depth), the call before it is blamed and
// everything is done again without what comes after the call.
//
// What the flow does not reach (the cases of a switch, what follows a call that
// does not return) is filled in by guessing, from the state of the body before it.
type analysis struct {
	code    []byte
	split   *arch.Split // what code is made of; nil where it is one piece
	index   []int32     // by offset: 1 + the index of the op there, 0 where none has been decoded
	ops     []op
	at      []int32 // the offset of each op
	states  []state // by op
	reached []bool  // by op: states is valid
	work    []int32 // ops whose state has changed
	seeds   []seed
	blamed  []int32 // offsets of calls that do not return
	steps   int
	certain bool // nothing is guessed
	unsound bool // a contradiction is left, or the bounds were met: nothing is certain
}

// outside is the target of a branch that leaves the code.
const outside = -1

// A seed is a guess of the state where the flow does not come.
type seed struct {
	at int32
	state
}

// analyse analyses a function's code, whose parts split tells unless it is in one piece. With
// reached, what the flow of control does not reach is not wanted.
func analyse(code []byte, split *arch.Split, reached bool) *analysis {
	n := min(len(code)/4, 4096) // as many instructions as most functions have
	if reached {
		n = min(n, 256) // what is no function ends soon
	}
	a := &analysis{
		code: code, split: split, certain: reached, index: make([]int32, len(code)),
		ops: make([]op, 0, n), at: make([]int32, 0, n), states: make([]state, 0, n), reached: make([]bool, 0, n),
	}
	// A cold part that was split off begins with a lone nop, for the exception
	// tables' sake; functions begin with none, or with several for patching.
	cold := len(code) > 1 && code[0] == 0x90 && code[1] != 0x90
	for a.follow() || !reached && a.fill() {
	}
	a.unsound = a.unsound || cold
	return a
}

// follow follows the flow from the entry. It reports whether a call has been
// blamed, so that all is to be done again.
func (a *analysis) follow() (again bool) {
	clear(a.reached)
	a.seeds, a.work = a.seeds[:0], a.work[:0]
	s := entryState()
	if !a.arrive(0, &s) || !a.drain() {
		return true
	}
	a.land()
	return false
}

// land guesses the state where the part of a split function begins that is elsewhere, for
// what does not come there by a jump, as the handlers of exceptions: that at a call.
func (a *analysis) land() {
	if a.split == nil {
		return
	}
	if i := a.index[a.split.Cold] - 1; i >= 0 && a.reached[i] {
		return
	}
	first := int32(-1)
	for i := range a.ops {
		if a.reached[i] && a.ops[i].kind == opCall && a.at[i] < a.split.Cold && (first < 0 || a.at[i] < a.at[first]) {
			first = int32(i)
		}
	}
	if first >= 0 {
		s := a.states[first]
		a.guess(a.split.Cold, &s)
	}
}

// target returns the offset that the branch o at an offset leads to.
func (a *analysis) target(o *op, at int32) int32 {
	if a.split != nil && o.target != noTarget {
		return a.split.Target(at, o.target)
	}
	return o.within(a.code)
}

// within returns the offset into code that the branch leads to, or outside.
func (o *op) within(code []byte) int32 {
	if o.target >= 0 && o.target < int64(len(code)) {
		return int32(o.target)
	}
	return outside
}

// fill guesses the states that the flow leaves open, each from what stands before
// it in the code. It reports whether a call has been blamed after all.
func (a *analysis) fill() (again bool) {
	for len(a.seeds) > 0 && a.steps < maxSteps {
		batch := a.seeds
		a.seeds = nil // the guessed parts leave gaps behind them, too
		slices.SortFunc(batch, func(x, y seed) int { return cmp.Compare(x.at, y.at) })
		for i := range batch {
			x := &batch[i]
			x.guess = true
			if !a.arrive(x.at, &x.state) || !a.drain() {
				return true
			}
		}
	}
	return false
}

// drain runs until no state changes; ok is false where a call has been blamed.
func (a *analysis) drain() (ok bool) {
	for len(a.work) > 0 {
		i := a.work[len(a.work)-1]
		a.work = a.work[:len(a.work)-1]
		if !a.run(i) {
			return false
		}
	}
	return true
}

// opAt returns the index of the instruction at an offset.
func (a *analysis) opAt(at int32) (i int32, ok bool) {
	if at < 0 || int(at) >= len(a.code) || a.split != nil && !a.split.Holds(at) {
		return 0, false
	}
	if i = a.index[at]; i > 0 {
		return i - 1, true
	}
	if len(a.ops) >= maxOps {
		a.unsound = true
		return 0, false
	}
	a.ops = append(a.ops, decode(a.code, int(at)))
	a.at = append(a.at, at)
	a.states = append(a.states, state{})
	a.reached = append(a.reached, false)
	i = int32(len(a.ops))
	a.index[at] = i
	return i - 1, true
}

// run executes the instruction with index i in its state and hands the outcome
// to what follows.
func (a *analysis) run(i int32) (ok bool) {
	if a.steps++; a.steps > maxSteps {
		a.unsound, a.work = true, a.work[:0]
		return true
	}
	o, at := a.ops[i], a.at[i] // copied: looking ahead may move the ops
	s := a.states[i]
	next := at + int32(o.len)
	switch o.kind {
	case opBad:
		return true
	case opStop, opJumpAway:
		a.guess(next, &s)
		return true
	case opReturn:
		if sp := s.regs[RSP]; sp.base == cfa && sp.off != entrySP && !s.guess {
			if !a.blame(s.call) {
				return false
			}
		}
		a.guess(next, &s)
		return true
	case opJump:
		a.guess(next, &s)
		return a.arrive(a.target(&o, at), &s)
	case opBranch, opBranchNE:
		taken := s
		taken.compared, taken.teardown = noReg, intact
		if !a.arrive(a.target(&o, at), &taken) {
			return false
		}
	case opCall:
		if a.split != nil && a.target(&o, at) == a.split.Cold { // a function of its own after all
			if e := entryState(); !a.arrive(a.split.Cold, &e) {
				return false
			}
		}
		if slices.Contains(a.blamed, at) {
			a.guess(next, &s)
			return true
		}
		if s.probesAhead(a.peek(next)) {
			o.kind = opOther
		}
	case opStore:
		if s.savesAgain(&o) && s.call != noCall && !s.guess && !a.blame(s.call) {
			return false
		}
	}
	_, had := s.savedAt(RIP)
	s.exec(&o, at)
	if _, has := s.savedAt(RIP); had && !has && s.call != noCall && !s.guess && !a.blame(s.call) {
		return false // a frame that was never made is torn down
	}
	return a.arrive(next, &s)
}

// peek returns the instruction at an offset, for a look ahead.
func (a *analysis) peek(at int32) *op {
	if i, ok := a.opAt(at); ok {
		return &a.ops[i]
	}
	return &op{kind: opBad}
}

// guess notes a state for code that the flow does not reach: the frame as it was
// before the instructions that took it down for this exit.
func (a *analysis) guess(at int32, s *state) {
	if a.certain || len(a.seeds) >= maxOps {
		return
	}
	if s.teardown != intact {
		if i := a.index[s.teardown]; i > 0 && a.reached[i-1] {
			s = &a.states[i-1]
		}
	}
	x := seed{at, *s}
	x.teardown, x.compared, x.call, x.justCall = intact, noReg, noCall, false
	a.seeds = append(a.seeds, x)
}

// arrive joins a state to what is known at an offset. ok is false where that
// made a call blamed.
func (a *analysis) arrive(at int32, s *state) (ok bool) {
	i, ok := a.opAt(at)
	if !ok {
		return true
	}
	have := &a.states[i]
	switch {
	case !a.reached[i]:
		*have, a.reached[i] = *s, true
	case s.guess:
		// The first guess stays, and so does what is certain, unless its certainty
		// is that of a call that comes back.
		if !have.guess && have.justCall && have.contradicts(s) {
			return a.blame(have.call)
		}
		return true
	default:
		if have.contradicts(s) {
			switch {
			case s.justCall:
				return a.blame(s.call)
			case have.justCall:
				return a.blame(have.call)
			case s.call != noCall:
				return a.blame(s.call)
			case have.call != noCall:
				return a.blame(have.call)
			}
		}
		if !have.merge(s) {
			return true
		}
	}
	a.work = append(a.work, i)
	return true
}

// blame notes that a call does not return. ok is true where there is none to
// blame, and then the contradiction stays.
func (a *analysis) blame(call int32) (ok bool) {
	if call == noCall || len(a.blamed) >= maxBlamed {
		a.unsound = true
		return true
	}
	a.blamed = append(a.blamed, call)
	return false
}
