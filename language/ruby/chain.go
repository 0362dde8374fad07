package ruby

import (
	"fmt"

	"github.com/sfwalk/sfwalk/language"
)

// mostFrames bounds the control frames of one context.
const mostFrames = 1 << 17

// control is a control frame.
type control struct {
	at           uint64
	pc, iseq, ep uint64
	flags        uint64
}

// run is what one call of the evaluator runs.
type run struct {
	ends bool   // it has its outermost frame
	code uint64 // an address in the evaluator, as its frames' code has it; 0 for none
}

// placed is a frame of the language in a run.
type placed struct {
	language.Frame
	run      int
	function uint64 // the address of the function in C; 0 for others
}

// chain is the frames of a context, the innermost first.
type chain struct {
	m      *memory
	frames []placed
	runs   []run
	open   int // how many of the last frames lack the place that the next frame of Ruby's code has
	// exception is what the innermost rescue or ensure clause handles, 0 for none.
	exception uint64
	after     bool // the next frame is left out: Ruby's own traces have one for a rescue clause and its method
}

// read reads the control frames of a context.
func (c *chain) read(ec uint64) error {
	m := c.m
	stack, size, at := m.Pointer(ec+m.contextStack), m.Pointer(ec+m.contextStackSize), m.Pointer(ec+m.contextFrame)
	if stack == 0 && m.OK() {
		return nil // it has not begun
	}
	end := stack + 8*size
	if !m.OK() {
		return m.Err()
	}
	if at < stack || at > end || (end-at)%m.frameSize != 0 || size > 1<<32 {
		return fmt.Errorf("the control frame at %#x is not in its stack", at)
	}
	// The outermost one is no frame of the language.
	end -= m.frameSize
	for n := 0; at < end; at += m.frameSize {
		if n++; n > mostFrames {
			return fmt.Errorf("there are more than %d control frames", mostFrames)
		}
		f := control{at: at, pc: m.Pointer(at + m.framePC), iseq: m.Pointer(at + m.frameISeq), ep: m.Pointer(at + m.frameEP)}
		f.flags = m.Pointer(f.ep)
		if !m.OK() {
			return fmt.Errorf("the control frame at %#x: %w", at, m.Err())
		}
		c.add(&f)
		if !m.OK() {
			return fmt.Errorf("the control frame at %#x: %w", at, m.Err())
		}
	}
	return nil
}

// add adds a control frame.
func (c *chain) add(f *control) {
	m := c.m
	if n := len(c.runs); n == 0 || c.runs[n-1].ends {
		c.runs = append(c.runs, run{})
	}
	now := &c.runs[len(c.runs)-1]
	kind := f.flags & m.magicMask
	switch {
	case f.iseq != 0 && m.isInternal(f.iseq, m.imemoISeq):
		code := m.code(f.iseq)
		if now.code == 0 && code.instructions != 0 {
			now.code = m.Pointer(code.instructions)
		}
		c.addCode(f, &code, kind)
	case kind == m.magicCFunc:
		c.addFunction(f)
	}
	now.ends = f.flags&m.flagFinish != 0 && kind != m.magicDummy
}

// addCode adds a frame of Ruby's code.
func (c *chain) addCode(f *control, code *code, kind uint64) {
	m := c.m
	skip := c.after
	clause := code.kind == m.iseqRescue || code.kind == m.iseqEnsure
	c.after = clause && m.atLeast(3, 4)
	if clause && c.exception == 0 {
		const variable = 3 * 8 // its only local variable is $!
		c.exception = m.Pointer(f.ep - variable)
	}
	pc := f.pc
	if kind == m.magicDummy {
		if pc == 0 {
			return
		}
		if m.atLeast(4, 0) {
			pc = 0
		}
	}
	if skip {
		return
	}
	x := placed{Frame: language.Frame{File: code.file, Place: f.at}, run: len(c.runs) - 1}
	if code.internal {
		if m.atLeast(4, 0) { // what it has called is left out
			c.frames = c.frames[:len(c.frames)-c.open]
			c.open = 0
		}
		if x.Function = m.functionName(m.methodEntry(f.ep)); x.Function == "" {
			x.Function = m.function(code, m.methodEntry(f.ep))
		}
		x.Line = m.line(code, pc)
		c.frames = append(c.frames, x)
		c.open++
		return
	}
	x.Function, x.Line = m.function(code, m.methodEntry(f.ep)), m.line(code, pc)
	for i := range c.open {
		o := &c.frames[len(c.frames)-1-i]
		o.File, o.Line = x.File, x.Line
	}
	c.open = 0
	c.frames = append(c.frames, x)
}

// addFunction adds a function in C.
func (c *chain) addFunction(f *control) {
	m := c.m
	method := m.methodEntry(f.ep)
	x := placed{Frame: language.Frame{Function: m.functionName(method), Kind: "native", Place: f.at}, run: len(c.runs) - 1}
	if method != 0 {
		x.function = m.Pointer(m.Pointer(method+m.methodDefinition) + m.definitionFunction)
	}
	if x.Function == "" {
		x.Function = "(a function in C)"
	}
	c.frames = append(c.frames, x)
	c.open++
}

// methodEntry returns the address of the method's entry that an environment belongs to, 0 if it is
// no method's.
func (m *memory) methodEntry(ep uint64) uint64 {
	for range mostNested {
		flags, of := m.Pointer(ep), m.Pointer(ep-16)
		if m.isInternal(of, m.imemoMethod) {
			return of
		}
		if flags&m.flagLocal != 0 {
			if m.isInternal(of, m.imemoSVar) {
				if of = m.Pointer(of + m.svarMethod); m.isInternal(of, m.imemoMethod) {
					return of
				}
			}
			return 0
		}
		ep = m.Pointer(ep-8) &^ 3
		if ep == 0 || !m.step() {
			return 0
		}
	}
	m.Fail("environments lead to each other")
	return 0
}

// functionName returns the name under which a method was defined, with its class; "" if there is no
// method.
func (m *memory) functionName(method uint64) string {
	if method == 0 {
		return ""
	}
	name := m.idText(m.Pointer(m.Pointer(method+m.methodDefinition) + m.definitionName))
	return m.method(m.owner(method), name)
}

// owner returns the class that has a method, 0 for no method.
func (m *memory) owner(method uint64) uint64 {
	if method == 0 {
		return 0
	}
	return m.Pointer(method + m.methodOwner)
}
