package dataflow

import (
	"cmp"
	"slices"
)

// A seed is a guess of the state where the flow does not come.
type seed struct {
	at    int32
	state packed
}

// maxChoices bounds how many computed jumps are remembered.
const maxChoices = 64

// fill guesses the states that the flow leaves open, each from what stands before it in the
// code. It reports whether a call has been blamed after all.
func (a *Analysis) fill() (again bool) {
	for len(a.seeds) > 0 && a.steps < maxSteps {
		batch := a.seeds
		a.seeds = nil // the guessed parts leave gaps behind them, too
		slices.SortFunc(batch, func(x, y seed) int { return cmp.Compare(x.at, y.at) })
		for i := range batch {
			a.load(&a.another, a.chosen(&batch[i]))
			a.another.guess = true
			if !a.arrive(batch[i].at, &a.another) || !a.drain() {
				return true
			}
		}
	}
	return false
}

// chosen returns the state to guess for a seed. If the stack pointer is elsewhere at the last
// computed jump before it, that state is likelier: the jump chooses among several ways. The way
// that ends before the seed has been one of them, and has taken down its arguments or the frame.
func (a *Analysis) chosen(x *seed) *packed {
	if !a.m.Moving || x.state.reg(a.m.SP).base != cfa {
		return &x.state
	}
	last := -1
	for i := range a.choices {
		if at := a.choices[i].at; at <= x.at && (last < 0 || at >= a.choices[last].at) {
			last = i
		}
	}
	if last >= 0 {
		if sp := a.choices[last].state.reg(a.m.SP); sp.base == cfa && sp.off < a.m.EntrySP {
			return &a.choices[last].state
		}
	}
	return &x.state
}

// land guesses the state where the part of a split function begins that is elsewhere, for
// what does not come there by a jump, as the handlers of exceptions: that at a call.
func (a *Analysis) land() {
	if a.split == nil {
		return
	}
	cold := a.split.Cold
	if i := a.index[cold/a.m.Align] - 1; i >= 0 && a.nodes[i].reached {
		return
	}
	first := int32(-1)
	for i := range a.nodes {
		if a.nodes[i].reached && a.nodes[i].in.Flow == Call && a.nodes[i].at < cold && (first < 0 || a.nodes[i].at < a.nodes[first].at) {
			first = int32(i)
		}
	}
	if first >= 0 {
		a.load(&a.now, &a.nodes[first].state)
		a.guess(cold, &a.now)
	}
}

// guess notes a state for code that the flow does not reach: the frame as it was before the
// instructions that took it down for this exit.
func (a *Analysis) guess(at int32, s *State) {
	n := len(a.seeds)
	if a.certain || n >= maxInsts {
		return
	}
	if s.teardown != intact {
		if i := a.index[s.teardown/a.m.Align]; i > 0 && a.nodes[i-1].reached {
			s = &a.another
			a.load(s, &a.nodes[i-1].state)
		}
	}
	if n < cap(a.seeds) {
		a.seeds = a.seeds[:n+1] // where room for its registers may be
	} else {
		a.seeds = append(a.seeds, seed{})
	}
	x := &a.seeds[n]
	x.at = at
	a.store(&x.state, s)
	x.state.teardown, x.state.compared, x.state.call, x.state.justCall = intact, nothing, noCall, false
	if a.jumps && len(a.choices) < maxChoices {
		a.choices = append(a.choices, *x)
	}
}
