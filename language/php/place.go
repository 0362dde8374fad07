package php

import (
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// Calls lie on the heap, and frames of execute_ex on the stack of C. A frame of execute_ex runs the
// calls from one with the flag ZEND_CALL_TOP inward, up to the next call of a function of C. Which
// call is its innermost one a register says. Where it does not, because the code was compiled
// without such a register, the order says it: each frame of execute_ex has one call with the flag.

// activation is a physical frame that runs PHP: of execute_ex, or of compiled code, which runs in
// such a frame.
type activation struct {
	level  int
	first  int    // index of the innermost call that it runs; -1 for none
	known  bool   // the register has said so
	opline uint64 // the instruction, by the register; 0 if that is not known
	jit    bool
	inside bool // it was interrupted, and did not call
}

// activations returns the frames that run PHP, and which calls.
func (c *chain) activations(s *language.Stack) (list []activation) {
	index := make(map[uint64]int, len(c.calls))
	for i := range c.calls {
		if _, ok := index[c.calls[i].at]; !ok && c.calls[i].runs() {
			index[c.calls[i].at] = i
		}
	}
	last := -1
	for level, f := range s.Frames {
		if f.Type() != frame.Normal {
			continue
		}
		jit := isMade(f)
		if !jit && !c.isExecute(f) {
			continue
		}
		a := activation{level: level, first: -1, jit: jit, inside: f.PC() == f.AddressInBlock()}
		if regs := c.arch.Zend; regs != nil {
			if v := f.Register(regs.Call); v.Known() {
				a.first, a.known = c.runBy(index, v.Bits)
				// Of a call that is being left, the instruction is of no use.
				if op := f.Register(regs.Instruction); op.Known() && a.first >= 0 && c.calls[a.first].at == v.Bits {
					a.opline = op.Bits
				}
			}
		}
		if jit && !a.known {
			continue // it may be another compiler's
		}
		if a.first >= 0 {
			if a.first <= last {
				a.first, a.known, a.opline = -1, false, 0
			} else {
				last = a.first
			}
		}
		list = append(list, a)
	}
	return list
}

// join adds the callers of a generator that is just being resumed: it becomes the innermost call
// before it is linked to its caller, which a frame of execute_ex has in its register.
func (c *chain) join(s *language.Stack) error {
	n := len(c.calls)
	if c.arch.Zend == nil || n == 0 || uint64(c.calls[n-1].info)&c.layout.at[infoGenerator] == 0 {
		return nil
	}
	for _, f := range s.Frames {
		if !c.isExecute(f) && !isMade(f) {
			continue
		}
		v := f.Register(c.arch.Zend.Call)
		if !v.Known() || slices.ContainsFunc(c.calls, func(one call) bool { return one.at == v.Bits }) {
			continue
		}
		if one, _ := c.call(v.Bits); c.Err() == nil && one.function != nil && one.function.user() {
			return c.read(v.Bits)
		}
	}
	return nil
}

// isExecute reports whether a frame is one of execute_ex.
func (c *chain) isExecute(f *frame.Frame) bool {
	if pc := f.AddressInBlock(); c.execute.has(pc) {
		return true
	} else if pc < c.module.Lo() || pc >= c.module.Hi() {
		return false
	}
	start, ok := f.Function()
	return ok && start == c.execute.lo
}

// isMade reports whether a frame's code was made at run time.
func isMade(f *frame.Frame) bool {
	m := f.Module()
	if m == nil {
		return true
	}
	_, _, err := m.PeekImage()
	return err != nil
}

// runBy returns the index of the innermost call that a frame runs whose register leads to at; -1 if
// it runs none any more. ok is false if the register leads to no call.
func (c *chain) runBy(index map[uint64]int, at uint64) (first int, ok bool) {
	if i, ok := index[at]; ok {
		return i, true
	}
	// A call that is being left is no part of the chain.
	left, prev := c.call(at)
	if c.Err() != nil || left.function == nil || !left.function.user() {
		return -1, false
	}
	if uint64(left.info)&c.layout.at[infoTop] != 0 {
		return -1, true
	}
	i, ok := index[prev]
	if !ok {
		return -1, false
	}
	return i, true
}

// top reports whether a call is the outermost one of its frame of execute_ex.
func (c *chain) top(i int) bool { return uint64(c.calls[i].info)&c.layout.at[infoTop] != 0 }

// matched gives frames of which no register says which calls they run the calls that lie between
// the ones of the frames around, the outermost first.
func (c *chain) matched(list []activation) {
	for from := 0; from < len(list); {
		if list[from].known {
			from++
			continue
		}
		to := from
		for to < len(list) && !list[to].known {
			to++
		}
		lo, hi := 0, c.stackEnd()
		if from > 0 && list[from-1].first >= 0 {
			lo = c.runEnd(list[from-1].first)
		}
		if to < len(list) && list[to].first >= 0 {
			hi = list[to].first
		}
		for i, at := to-1, hi-1; i >= from && at >= lo; {
			if !c.calls[at].runs() || !c.top(at) {
				at--
				continue
			}
			first := at
			for first > lo && c.calls[first-1].runs() && !c.top(first-1) {
				first--
			}
			list[i].first, at = first, first-1
			i--
		}
		from = to
	}
}

// stackEnd returns the index of the first call that is on another stack.
func (c *chain) stackEnd() int {
	if c.bottom >= 0 {
		return c.bottom
	}
	return len(c.calls)
}

// runEnd returns the index behind the outermost call of the frame that runs the one at first, and
// behind the generators that wait for it.
func (c *chain) runEnd(first int) int {
	end := c.stackEnd()
	i := first
	for i < end && c.calls[i].runs() && !c.top(i) {
		i++
	}
	if i < end && c.calls[i].runs() {
		i++
	}
	for i < end && c.calls[i].delegates {
		i++
	}
	return i
}

// groups puts the calls where they are run. Calls that a part of the stack runs that could not be
// walked have no place: early says so.
func (c *chain) groups(s *language.Stack, list []activation) (groups []language.Group, early string) {
	p := placing{chain: c, stack: s}
	at := 0
	inner := -1 // the level of the frame before
	for i := range list {
		a := &list[i]
		if a.first < 0 {
			continue
		}
		// What is called is noted before the register is set.
		first := a.first
		for first > at && c.calls[first-1].runs() && !c.top(first-1) {
			first--
		}
		end := c.runEnd(a.first)
		p.between(at, first, inner, a.level)
		p.frameless(a, inner)
		p.run(first, end, a)
		at, inner = end, a.level
	}
	if !s.Whole && at < len(c.calls) {
		return p.groups, "its frames end with the stack, which could not be walked to its end"
	}
	p.between(at, c.stackEnd(), inner, len(s.Frames))
	if c.bottom >= 0 {
		p.outside(c.bottom)
	}
	return p.groups, ""
}

// placing makes groups.
type placing struct {
	*chain
	stack  *language.Stack
	groups []language.Group
}

// add adds a group of the calls from i up to end.
func (p *placing) add(i, end int, anchor language.Anchor, a *activation) {
	if i >= end {
		return
	}
	frames := make([]language.Frame, 0, end-i)
	for ; i < end; i++ {
		one := &p.calls[i]
		var caller *call
		if i+1 < len(p.calls) {
			caller = &p.calls[i+1]
		}
		f := p.frame(one, caller, p.oplineOf(i, a))
		if a != nil && a.jit && a.inside && i == a.first {
			f.Guess = true // compiled code notes its place where it may call, and not elsewhere
		}
		// Compiled code has variables in registers.
		if p.stack != nil && p.stack.Locals && one.function.user() && !(a != nil && a.jit && i == a.first) {
			f.Args, f.Locals = p.variables(one)
		}
		frames = append(frames, f)
	}
	p.groups = append(p.groups, language.Group{Anchor: anchor, Frames: frames})
}

// at returns the anchor of a physical frame.
func (p *placing) at(level int, beside bool) language.Anchor {
	f := p.stack.Frames[level]
	cfa, _ := f.CFA()
	return language.Anchor{Level: level, PC: f.PC(), CFA: cfa, Beside: beside}
}

// run adds the calls that a frame runs.
func (p *placing) run(i, end int, a *activation) { p.add(i, end, p.at(a.level, false), a) }

// between adds calls that lie between the physical frames at inner and outer, which are run by
// functions of C: the ones that PHP has called are in the place of their physical frames.
func (p *placing) between(i, end, inner, outer int) {
	if i >= end {
		return
	}
	levels := make([]int, end-i) // of the calls' own physical frames; -1 for none
	level := outer - 1
	for j := end - 1; j >= i; j-- {
		levels[j-i] = -1
		handler := p.calls[j].function.handler
		if handler == 0 {
			continue
		}
		for l := level; l > inner; l-- {
			if start, ok := p.stack.Frames[l].Function(); ok && start == handler && p.stack.Frames[l].Type() == frame.Normal {
				levels[j-i], level = l, l-1
				break
			}
		}
	}
	for ; i < end; i, levels = i+1, levels[1:] {
		if levels[0] >= 0 {
			p.add(i, i+1, p.at(levels[0], false), nil)
			continue
		}
		// It stands outside of the frames that are within it.
		at := outer - 1
		if next := slices.IndexFunc(levels, func(l int) bool { return l >= 0 }); next >= 0 {
			at = levels[next] - 1
		}
		p.add(i, i+1, p.at(min(max(at, inner, 0), len(p.stack.Frames)-1), true), nil)
	}
}

// frameless adds the function of C that the innermost call of a has called without a record, as 8.4
// and later do with some: its physical frame is between inner and a, and tells it.
func (p *placing) frameless(a *activation, inner int) {
	if !p.layout.has(opFrameless) || p.framelessFunctions == 0 {
		return
	}
	opline := p.oplineOf(a.first, a)
	if !p.calls[a.first].function.has(p.layout, opline) || p.Uint(opline+p.layout.at[opCode], 1)-p.layout.at[opFrameless] > 3 {
		p.Err()
		return
	}
	at := 8 * p.Uint(opline+p.layout.at[opExtended], 4)
	handler := p.Pointer(p.Pointer(p.framelessHandlers) + at)
	fn := p.functionAt(p.Pointer(p.Pointer(p.framelessFunctions) + at))
	if p.Err() != nil || fn == nil || handler == 0 {
		return
	}
	for level := a.level - 1; level > inner; level-- {
		f := p.stack.Frames[level]
		if start, ok := f.Function(); ok && start == handler && f.Type() == frame.Normal {
			one := call{function: fn}
			p.groups = append(p.groups, language.Group{Anchor: p.at(level, false), Frames: []language.Frame{p.frame(&one, nil, 0)}})
			return
		}
	}
}

// oplineOf returns the instruction of a call, which a frame runs or none.
func (p *placing) oplineOf(i int, a *activation) uint64 {
	one := &p.calls[i]
	// Between two instructions that need it, memory has an older one.
	if a != nil && i == a.first && a.opline != 0 && !a.jit && one.function.has(p.layout, a.opline) {
		return a.opline
	}
	return one.opline
}

// outside adds the calls from i on behind the stack of a fiber: what has resumed the fiber is on
// another stack.
func (p *placing) outside(i int) { p.add(i, len(p.calls), p.at(len(p.stack.Frames)-1, true), nil) }
