package frame

import (
	"errors"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// Register returns the value of register r as THIS frame sees it, unwound through NEXT. The value
// is the one that a debugger shows for the frame: for frame 0 the thread's own, for outer frames
// what inner frames have saved or left.
func (f *Frame) Register(r trad.Reg) Value {
	v := f.register(r)
	if !v.Known() {
		f.stack.lacks = true
	}
	return v
}

// register is Register for the unwinding itself, which passes values on that nobody has asked for.
func (f *Frame) register(r trad.Reg) Value {
	if f.Level <= 0 {
		if f.outdated() {
			return Value{Err: errOutdated}
		}
		return f.stack.liveRegister(r)
	}
	if f.ofWalker {
		if f.next == nil {
			if v, ok := f.carriedRegister(r); ok {
				return v
			}
		}
	} else if f.generation != f.stack.generation {
		return Value{Err: errOutdated}
	}
	a, next := f.stack.arch, f.inner()
	switch r {
	case a.PC:
		return next.ra
	case a.FP:
		return f.fp
	case a.SP:
		if f.spKnown && next.typ == Normal && !next.row.Others.Lists(r) {
			return Value{Bits: f.sp, Lval: Computed}
		}
	}
	if i := a.OtherCalleeSavedIndex(r); i >= 0 {
		return f.calleeSaved(r, i)
	}
	return next.prevRegister(r)
}

// Registers sets to.Known, and fills to with all registers of THIS frame that are known: the values
// that [Frame.Register] returns, but PC without bits that are not part of the address. The values
// of other registers in to are not valid.
func (f *Frame) Registers(to *arch.Registers) {
	s, a := f.stack, f.stack.arch
	if f.outdated() {
		to.Known = arch.RegSet{}
		return
	}
	s.lacks = s.lacks || s.live.Known.Len() < len(a.Regs)
	if f.Level <= 0 {
		*to = *s.live
		return
	}
	next := f.inner()
	to.Known = arch.RegSet{}
	to.Set(a.PC, f.pc)
	if f.spKnown {
		to.Set(a.SP, f.sp)
	}
	if f.fp.Known() {
		to.Set(a.FP, f.fp.Bits)
	}
	for i, r := range a.OtherCalleeSaved {
		switch k := f.saved[i]; {
		case k == 0:
			if v, ok := s.live.Get(r); ok {
				to.Set(r, v)
			}
		case k&1 == 0 && !a.TwoWords(r): // savedAt, without a Value
			if v, err := s.readWord(s.base + uint64(k)); err == nil {
				to.Set(r, a.Saved(r, v))
			}
		case k&1 == 0:
			if v := f.savedAt(r, s.base+uint64(k)); v.Err == nil {
				to.Set(r, v.Bits)
			}
		default:
			if v := f.askSaver(r, i); v.Known() {
				to.Set(r, v.Bits)
			}
		}
	}
	if a.RA == a.PC && next.losesCallerSaved() {
		return
	}
	for i := range a.Regs {
		r := a.Regs[i].Num
		if a.OtherCalleeSavedIndex(r) >= 0 || to.Known.Has(r) {
			continue
		}
		if v := f.Register(r); v.Known() {
			to.Set(r, v.Bits)
		}
	}
}

// losesCallerSaved reports whether all registers of PREVIOUS that a callee may change are lost:
// PREVIOUS has called THIS, and the row has rules only for registers that a callee must preserve.
func (f *Frame) losesCallerSaved() bool {
	more := f.row.Others
	if more == nil && f.later != nil && f.later.ok {
		more = f.later.row.Others
	}
	if f.typ != Normal || f.byUnwinder || more == nil || f.preservedSniffer() != nil {
		return false
	}
	a := f.stack.arch
	for i := range more.Regs {
		if r := more.Regs[i].Reg; a.OtherCalleeSavedIndex(r) < 0 && r != a.SP {
			return false
		}
	}
	return more.Default != trad.NotTracked
}

// liveRegister returns a register of frame 0.
func (s *Stack) liveRegister(r trad.Reg) Value {
	if bits, ok := s.live.Get(r); ok {
		return Value{Bits: bits, Reg: r, Lval: InRegister}
	}
	return Value{}
}

// maxDepth is how many frames' rules may lead to one another: a register is in
// another one of THIS, that one in another one of NEXT, and so on. No program does that
// more than a few times.
const maxDepth = 10_000

var errDeep = errors.New("the rules of too many frames lead to one another")

// descend counts s.depth up, and reports whether inner frames may be asked for a register. The
// caller counts it down.
func (s *Stack) descend() bool {
	if s.depth == maxDepth {
		return false
	}
	s.depth++
	return true
}

// env is THIS frame as a [trad.Env]: rules read its registers, and the target's memory.
type env Frame

func (e *env) Register(r trad.Reg) (uint64, bool) {
	f := (*Frame)(e)
	switch r {
	case f.stack.arch.SP:
		return f.sp, f.spKnown
	case f.stack.arch.PC:
		return f.pc, true
	}
	v := f.fp
	if r != f.stack.arch.FP {
		v = f.register(r)
	}
	f.stack.lacks = f.stack.lacks || !v.Known()
	return v.Bits, v.Known()
}

// RegName names a register in errors ([trad.UnknownRegister]).
func (e *env) RegName(r trad.Reg) string { return e.stack.arch.RegName(r) }

func (e *env) Word(addr uint64) (uint64, error) { return e.stack.readWord(addr) }

// prevRegister returns the value of register r in PREVIOUS. If many frames in a row have not
// changed it, the loop goes inward through them.
func (f *Frame) prevRegister(r trad.Reg) Value {
	this := f
	if !f.stack.descend() {
		return Value{Err: errDeep}
	}
	v, ok := this.known(r)
	for !ok {
		reg, answer, inward := this.applyRule(r)
		switch {
		case !inward:
			v, ok = answer, true
		case reg != r || this.stack.arch.OtherCalleeSavedIndex(r) >= 0 || r == this.stack.arch.FP:
			v, ok = this.register(reg).narrow(f.stack.arch, r), true
		default:
			this = this.inner()
			v, ok = this.known(r)
		}
	}
	if this != f {
		for at := f; at != this.next; at = at.next {
			at.remember(r, v)
		}
	}
	f.stack.depth--
	return v
}

// known returns register r of PREVIOUS if no rule need be applied: THIS is the sentinel, was
// dropped, or its Unwinder answers, or the value was remembered.
func (f *Frame) known(r trad.Reg) (Value, bool) {
	if f.Level < 0 {
		return f.stack.liveRegister(r), true
	}
	if f.dropped {
		if i := f.stack.arch.Index(r); i >= 0 {
			return (*f.values)[i], true
		}
		return Value{}, true
	}
	if f.prev != nil && r == f.stack.arch.FP {
		return f.prev.fp, true
	}
	if f.values != nil {
		if i := f.stack.arch.Index(r); i >= 0 && (*f.values)[i].Lval != unasked {
			return (*f.values)[i], true
		}
	}
	return f.byItsUnwinder(r)
}

// applyRule applies the rule for register r of PREVIOUS to THIS frame. If inward is true, the value
// is in register reg of THIS; else it is v.
func (f *Frame) applyRule(r trad.Reg) (reg trad.Reg, v Value, inward bool) {
	if f.winner < 0 {
		return 0, Value{Err: f.claimErr}, false
	}
	a := f.stack.arch
	row := &f.row
	rule := rowRule(row, r, a)
	if rule.Kind == trad.NotTracked {
		if row = f.laterRow(); row == nil {
			return 0, Value{}, false
		}
		if rule = rowRule(row, r, a); rule.Kind == trad.NotTracked {
			return 0, Value{}, false
		}
	}
	if r == a.PC && rule.Kind == trad.Same {
		if a.RA == a.PC {
			return 0, Value{Lval: NotSaved}, false
		}
		return a.RA, Value{}, true // the return address is still in the link register
	}
	if rule.Kind == trad.Saved {
		return 0, f.savedAt(r, rule.At(f.cfa)), false
	}
	p, err := row.Place(rule, r, (*env)(f), f.cfa)
	if err != nil {
		return 0, Value{Err: err}, false
	}
	switch p.Kind {
	case trad.Lost:
		if f.preserves(row, r) {
			return r, Value{}, true
		}
		return 0, Value{Lval: NotSaved}, false
	case trad.InThis:
		return p.Reg, Value{}, true
	case trad.IsValue:
		return 0, Value{Bits: a.Narrow(r, p.Addr), Lval: Computed}, false
	case trad.InMemory:
		return 0, f.savedAt(r, p.Addr), false
	}
	return 0, Value{}, false
}

// savedAt returns the value of register r, which is saved at addr.
func (f *Frame) savedAt(r trad.Reg, addr uint64) Value {
	v, a := f.wordAt(addr), f.stack.arch
	if !a.TwoWords(r) || v.Err != nil {
		v.Bits = a.Saved(r, v.Bits)
		return v
	}
	second, err := f.stack.readWord(addr + uint64(a.PtrSize))
	if err != nil {
		return Value{Addr: addr, Err: err}
	}
	v.Bits = a.Join(v.Bits, second)
	return v
}

// wordAt returns the word at addr as the value of a register of its width.
func (f *Frame) wordAt(addr uint64) Value {
	bits, err := f.stack.readWord(addr)
	if err != nil {
		return Value{Addr: addr, Err: err}
	}
	return Value{Bits: bits, Addr: addr, Lval: InMemory}
}

// rowRule returns a row's rule for register r of PREVIOUS.
func rowRule(row *trad.Row, r trad.Reg, a *arch.Arch) trad.Rule {
	switch r {
	case a.PC:
		return row.RA
	case a.FP:
		return row.FP
	}
	rule := row.Others.Rule(r)
	if r == a.SP && !row.Others.Lists(r) {
		return trad.Rule{Kind: trad.Value, Off: int32(a.SPFromCFA)}
	}
	if r == a.RA && !row.Others.Lists(r) {
		return row.RA
	}
	if rule.Kind == trad.Same && !row.Others.Lists(r) && !a.CalleeSaved.Has(r) {
		// The table is silent, and the ABI lets a callee change the register.
		return trad.Rule{Kind: trad.Undefined}
	}
	return rule
}

// unasked marks a value in Frame.values that was not remembered.
const unasked Lval = 0xff

// remember keeps the value of PREVIOUS's register r. PREVIOUS itself has PC, SP and FP,
// so that most frames need no Frame.values.
func (f *Frame) remember(r trad.Reg, v Value) {
	a := f.stack.arch
	i := a.Index(r)
	if f.Level < 0 || i < 0 || r == a.PC || r == a.SP || r == a.FP {
		return
	}
	if f.values == nil {
		list := make([]Value, len(a.Regs))
		for i := range list {
			list[i].Lval = unasked
		}
		f.values = &list
	}
	(*f.values)[i] = v
}
