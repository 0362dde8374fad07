package frame

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// Register returns the value of register r as THIS frame sees it, unwound
// through NEXT.
func (f *Frame) Register(r trad.Reg) Value {
	if f.next == nil {
		return f.prevRegister(r) // the sentinel's own registers are the live ones
	}
	return f.next.prevRegister(r)
}

// env lets rules read THIS frame's registers and the target's memory.
type env Frame

func (e *env) Register(r trad.Reg) (uint64, bool) {
	f := (*Frame)(e)
	switch r {
	case f.stack.arch.SP:
		return f.sp, f.spKnown
	case f.stack.arch.FP:
		return f.fp.Bits, f.fp.Known()
	case f.stack.arch.PC:
		return f.pc, true
	}
	v := f.Register(r)
	return v.Bits, v.Known()
}

func (e *env) Word(addr uint64) (uint64, error) { return e.stack.readWord(addr) }

// prevRegister returns the value of register r in PREVIOUS. A register that
// many frames in a row leave alone is followed inward in a loop, and every
// frame passed remembers the answer, so that asking all frames costs each one
// step.
func (f *Frame) prevRegister(r trad.Reg) Value {
	this := f
	v, ok := this.known(r)
	for !ok {
		next, reg, answer := this.step(r)
		switch {
		case next == nil:
			v, ok = answer, true
		case reg != r:
			v, ok = next.prevRegister(reg), true
		default:
			this = next
			v, ok = this.known(r)
		}
	}
	for at := f; ; at = at.next {
		at.remember(r, v)
		if at == this {
			return v
		}
	}
}

// known returns what the sentinel or an Unwinder says, or what was remembered.
func (f *Frame) known(r trad.Reg) (Value, bool) {
	if f.Level < 0 {
		if bits, ok := f.stack.live.Get(r); ok {
			return Value{Bits: bits, Reg: r, Lval: InRegister}, true
		}
		f.stack.missed = true
		return Value{}, true
	}
	if f.prev != nil && r == f.stack.arch.FP {
		return f.prev.fp, true
	}
	if f.values != nil {
		if i := f.stack.arch.Index(r); i >= 0 && f.values[i].Lval != unasked {
			return f.values[i], true
		}
	}
	if u, ok := f.unwinder(); ok {
		return u.PrevRegister(f, r), true
	}
	return Value{}, false
}

// step applies the rule for register r of PREVIOUS to THIS frame. It returns a
// frame where the answer is: PREVIOUS of next has the same value, in its
// register reg.
func (f *Frame) step(r trad.Reg) (next *Frame, reg trad.Reg, v Value) {
	if f.winner < 0 {
		return nil, 0, Value{Err: f.claimErr}
	}
	cache, rule := &f.cache, f.rule(r)
	if rule.Kind == trad.NotTracked {
		if cache, rule = f.complete(r); cache == nil {
			return nil, 0, Value{}
		}
	}
	a := f.stack.arch
	if r == a.PC && rule.Kind == trad.Same {
		if a.RA == a.PC {
			return nil, 0, Value{Lval: NotSaved}
		}
		return f.next, a.RA, Value{} // still in the link register
	}
	p, err := cache.Place(rule, r, (*env)(f))
	if err != nil {
		return nil, 0, Value{Err: err}
	}
	switch p.Kind {
	case trad.Lost:
		return nil, 0, Value{Lval: NotSaved}
	case trad.InThis:
		return f.next, p.Reg, Value{}
	case trad.IsValue:
		return nil, 0, Value{Bits: p.Addr, Lval: Computed}
	case trad.InMemory:
		bits, err := f.stack.readWord(p.Addr)
		if err != nil {
			return nil, 0, Value{Addr: p.Addr, Err: err}
		}
		return nil, 0, Value{Bits: bits, Addr: p.Addr, Lval: InMemory}
	}
	return nil, 0, Value{}
}

// rule returns the cell of THIS frame's row for a register of PREVIOUS.
func (f *Frame) rule(r trad.Reg) trad.Rule { return rowRule(&f.cache.Row, r, f.stack.arch) }

func rowRule(row *trad.Row, r trad.Reg, a *arch.Arch) trad.Rule {
	switch r {
	case a.PC:
		return row.RA
	case a.FP:
		return row.FP
	}
	rule := row.More.Rule(r)
	if r == a.SP && !row.More.Lists(r) {
		return trad.Rule{Kind: trad.Value, Off: int32(a.SPFromCFA)}
	}
	if r == a.RA && !row.More.Lists(r) {
		return row.RA
	}
	if rule.Kind == trad.Same && !row.More.Lists(r) && !a.CalleeSaved.Has(r) {
		// The table is silent, and the ABI lets a callee change the register.
		return trad.Rule{Kind: trad.Undefined}
	}
	return rule
}

// completion is a later sniffer's row for the same frame: it has the registers
// that the winner's does not track.
type completion struct {
	cache trad.Cache
	ok    bool
}

// complete asks the sniffers behind the winner for register r.
func (f *Frame) complete(r trad.Reg) (*trad.Cache, trad.Rule) {
	if f.completion == nil {
		f.completion = &completion{}
		f.completion.find(f)
	}
	if !f.completion.ok {
		return nil, trad.Rule{}
	}
	rule := rowRule(&f.completion.cache.Row, r, f.stack.arch)
	if rule.Kind == trad.NotTracked {
		return nil, trad.Rule{}
	}
	return &f.completion.cache, rule
}

// find takes the first later sniffer that does not guess, tracks more than the
// winner, and sees the same frame: agrees about the CFA.
func (c *completion) find(f *Frame) {
	s := f.stack
	// An outer frame may be in the middle of its own query.
	defer func(outer Query) { s.query = outer }(s.query)
	q := f.query()
	for i := int(f.winner) + 1; i < len(s.table.sniffers); i++ {
		row, answer := s.table.sniffers[i].Sniff(q)
		if answer != Claimed || row.Flags&trad.Guess != 0 || row.More == nil {
			continue
		}
		if c.cache.Apply(row, (*env)(f)) == nil && c.cache.CFA == f.cache.CFA {
			c.ok = true
			return
		}
	}
}

// unasked marks a place in Frame.values that nobody has filled.
const unasked Lval = 0xff

// remember keeps PREVIOUS's register r. PC, SP and FP stand in PREVIOUS itself,
// so that most frames need no more.
func (f *Frame) remember(r trad.Reg, v Value) {
	a := f.stack.arch
	i := a.Index(r)
	if f.Level < 0 || i < 0 || r == a.PC || r == a.SP || r == a.FP {
		return
	}
	if f.values == nil {
		f.values = make([]Value, len(a.Regs))
		for i := range f.values {
			f.values[i].Lval = unasked
		}
	}
	f.values[i] = v
}
