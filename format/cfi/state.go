package cfi

import "github.com/sfwalk/sfwalk/trad"

const (
	inlineRules = 20  // register rules, of all remembered states together, that need no allocation
	inlineSaved = 4   // remembered states that need no allocation
	maxSaved    = 256 // remembered states at a time
	maxRegister = 256 // the rules of this register and of higher ones are dropped
)

// state is one line of the table while the program runs. In a rule of kind Expr
// or ValExpr, Off is the offset in the section of the expression's length.
type state struct {
	cfa    trad.Rule // NotTracked until it is defined
	ra, fp trad.Rule
	signed bool // the return address is signed
	from   int  // the rules of other registers are states.rules()[from : from+n], ascending
	n      int
}

// states is a stack of states: the current one is on top, the CIE's at the
// bottom. It allocates nothing unless a program has unusually many states or rules.
type states struct {
	top   state
	depth int // of saved
	saved [inlineSaved]state
	rules [inlineRules]trad.RegRule

	moreSaved []state        // replaces saved, if not nil
	moreRules []trad.RegRule // replaces rules, if not nil
}

func (x *states) allSaved() []state {
	if x.moreSaved != nil {
		return x.moreSaved
	}
	return x.saved[:]
}

func (x *states) allRules() []trad.RegRule {
	if x.moreRules != nil {
		return x.moreRules
	}
	return x.rules[:]
}

// registers returns the rules of s, a state of the stack.
func (x *states) registers(s *state) []trad.RegRule { return x.allRules()[s.from : s.from+s.n] }

// makeRoom makes room for n more rules of the current state.
func (x *states) makeRoom(n int) {
	if all := x.allRules(); x.top.from+x.top.n+n > len(all) {
		x.moreRules = make([]trad.RegRule, 2*len(all)+n)
		copy(x.moreRules, all)
	}
}

// push remembers the current state.
func (x *states) push() {
	if all := x.allSaved(); x.depth == len(all) {
		x.moreSaved = make([]state, 2*len(all))
		copy(x.moreSaved, all)
	}
	x.allSaved()[x.depth] = x.top
	x.depth++
	x.makeRoom(x.top.n)
	rules := x.allRules()
	from := x.top.from + x.top.n
	copy(rules[from:], rules[x.top.from:from])
	x.top.from = from
}

// pop returns to the state remembered last. There must be one.
func (x *states) pop() {
	x.depth--
	x.top = x.allSaved()[x.depth]
}

// find returns the index of reg in rules. If reg is not there, find returns the index at which it
// belongs, and false.
func find(rules []trad.RegRule, reg trad.Reg) (int, bool) {
	i := len(rules)
	for i > 0 && rules[i-1].Reg >= reg {
		i--
	}
	return i, i < len(rules) && rules[i].Reg == reg
}

func lists(rules []trad.RegRule, reg trad.Reg) bool {
	_, ok := find(rules, reg)
	return ok
}

// set sets the rule of a register other than RA and FP. A NotTracked rule removes the register.
func (x *states) set(reg trad.Reg, rule trad.Rule) {
	rules := x.registers(&x.top)
	i, ok := find(rules, reg)
	switch {
	case ok && rule.Kind != trad.NotTracked:
		rules[i].Rule = rule
	case ok:
		copy(rules[i:], rules[i+1:])
		x.top.n--
	case rule.Kind != trad.NotTracked:
		x.makeRoom(1)
		x.top.n++
		rules = x.registers(&x.top)
		copy(rules[i+1:], rules[i:])
		rules[i] = trad.RegRule{Reg: reg, Rule: rule}
	}
}
