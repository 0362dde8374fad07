package php

import (
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// call is a call of a function of PHP: an execute_data.
type call struct {
	at       uint64 // its address
	opline   uint64 // the instruction at which it was, as far as it has saved that
	info     uint32 // This.u1: the type of the object, and flags
	function *function
	object   uint64 // $this; what it is if the type in info is no object's is not known
	// delegates says that it is a generator's, which does not run: it waits, in a yield from, for
	// the one before.
	delegates bool
}

// isObject is the type of a zval that has an object; the upper bits are flags.
const isObject = 8

// runs reports whether execute_ex runs the call.
func (c *call) runs() bool { return c.function.user() && !c.delegates }

// chain reads the calls of a thread.
type chain struct {
	*engine
	*structs.Reader
	state
	calls     []call // the innermost first
	functions map[uint64]*function
	// bottom is the index of the first call that is on another stack: outside of the current fiber.
	// It is -1 if there is none.
	bottom int
	left   int             // how many more calls may be read
	waits  map[uint64]bool // generators that wait for another one
}

// mostCalls bounds the calls that are read in one look.
const mostCalls = 1 << 17

func (e *engine) newChain(r *structs.Reader, s state) *chain {
	return &chain{engine: e, Reader: r, state: s, bottom: -1, left: mostCalls}
}

// read reads the calls from one on, outward.
func (c *chain) read(at uint64) error { return c.readUntil(at, 0) }

// readUntil reads the calls from one on, outward, up to the one at end.
func (c *chain) readUntil(at, end uint64) error {
	mark, next := uint64(0), 1 // finds circles
	for n := 0; at != 0 && at != end; n++ {
		if c.left--; c.left < 0 || at == mark {
			c.Fail("the calls lead in a circle, or are more than %d", mostCalls)
			break
		}
		if n == next {
			mark, next = at, 2*next
		}
		one, prev := c.call(at)
		if !c.OK() {
			break
		}
		switch {
		case one.function == nil:
			if generator := c.placeholder(&one); generator != 0 {
				c.delegating(generator)
			}
		case one.function.kind == internalFunction && one.function.name == "":
			// A fiber's outermost record. Outside is what has resumed the fiber.
			if c.bottom < 0 && prev != 0 {
				c.bottom = len(c.calls)
			}
		default:
			c.calls = append(c.calls, one)
		}
		at = prev
	}
	return c.Err()
}

// call reads a call, and the address of its caller.
func (c *chain) call(at uint64) (one call, prev uint64) {
	this := at + c.layout.at[callThis]
	one = call{
		at: at, opline: c.Pointer(at + c.layout.at[callOpline]),
		info: uint32(c.Uint(this+c.layout.at[zvalType], 4)), object: c.Pointer(this),
	}
	if fn := c.Pointer(at + c.layout.at[callFunc]); fn != 0 && c.OK() {
		one.function = c.functionAt(fn)
	}
	return one, c.Pointer(at + c.layout.at[callPrev])
}

// placeholder returns the generator that a record without a function stands for, 0 if it is another
// one: zend_call_function of old releases makes such records.
func (c *chain) placeholder(one *call) uint64 {
	if one.info&0xff != isObject || c.classOf(one.object) != "Generator" {
		return 0
	}
	return one.object
}

// mostDelegating bounds how many generators wait for each other.
const mostDelegating = 1 << 10

// delegating adds the calls of generators that wait, one for the other, for the innermost call. The
// outermost of them is the one that was asked for a value.
func (c *chain) delegating(outermost uint64) {
	running := uint64(0)
	if n := len(c.calls); n > 0 {
		running = c.calls[n-1].at
	}
	var list []call
	for at := outermost; at != 0 && len(list) < mostDelegating && c.left > 0; c.left-- {
		record := c.Pointer(at + c.layout.at[generatorCall])
		if record == 0 || record == running || !c.OK() {
			break
		}
		if c.waits[at] {
			c.Fail("the generator at %#x waits in two places", at)
			break
		}
		if running == 0 && c.runsGenerator(at) {
			break // it is the innermost one, and is just ending
		}
		one, _ := c.call(record)
		if one.function == nil {
			break
		}
		if c.waits == nil {
			c.waits = map[uint64]bool{}
		}
		one.delegates, c.waits[at] = true, true
		list = append(list, one)
		at = c.Pointer(at + c.layout.at[generatorParent])
	}
	for i := len(list) - 1; i >= 0; i-- {
		c.calls = append(c.calls, list[i])
	}
}

// runsGenerator reports whether a generator is marked as running.
func (c *chain) runsGenerator(at uint64) bool {
	return c.Uint(at+c.layout.at[generatorFlags], 1)&c.layout.at[generatorRunning] != 0
}

// frame writes a call as a frame. caller is the next call outward, nil if there is none. opline is
// the instruction at which it is.
func (c *chain) frame(one, caller *call, opline uint64) language.Frame {
	fn := one.function
	f := language.Frame{Function: c.nameOf(one, caller), Place: one.at}
	switch {
	case !fn.user():
		f.Kind = "native"
		return f
	case uint64(one.info)&c.layout.at[infoGenerator] != 0:
		f.Kind = "generator"
	}
	f.File, f.Line = fn.file, c.lineOf(fn, opline)
	return f
}

// nameOf returns what PHP's own traces call a call: with its class, and -> if it has an object.
func (c *chain) nameOf(one, caller *call) string {
	fn := one.function
	if fn.name == "" {
		return c.codeOf(one, caller)
	}
	switch object := one.info&0xff == isObject; {
	case object && fn.class != "":
		return fn.class + "->" + fn.name
	case object:
		if class := c.classOf(one.object); class != "" {
			return class + "->" + fn.name
		}
		c.Err() // there is a name without it
	case fn.class != "":
		return fn.class + "::" + fn.name
	}
	return fn.name
}

// The opcode of include, require and eval, and which of them extended_value says.
const opInclude = 73

var includes = map[uint64]string{1: "eval", 2: "include", 4: "include_once", 8: "require", 16: "require_once"}

// codeOf returns what code outside of all functions is called: by what has brought it in.
func (c *chain) codeOf(one, caller *call) string {
	if caller == nil {
		return "{main}"
	}
	if caller.function.user() && caller.function.has(c.layout, caller.opline) && c.Uint(caller.opline+c.layout.at[opCode], 1) == opInclude {
		if name := includes[c.Uint(caller.opline+c.layout.at[opExtended], 4)]; name != "" {
			return name
		}
	}
	c.Err()
	if one.function.kind == evalCode {
		return "eval"
	}
	return "include"
}

// lineOf returns the line of an instruction, 0 if it is none of the function. After an exception,
// a record leads to an instruction of the engine's own; then EG(opline_before_exception) has the
// one that has failed.
func (c *chain) lineOf(fn *function, opline uint64) int {
	if own := c.globals + c.layout.at[globalsExceptionOp]; opline-own < 3*c.layout.at[opSize] {
		if opline = c.Pointer(c.globals + c.layout.at[globalsOplineBefore]); !fn.has(c.layout, opline) {
			return fn.lineEnd
		}
	}
	if !fn.has(c.layout, opline) {
		return 0
	}
	line := int32(c.Uint(opline+c.layout.at[opLine], 4))
	if c.Err() != nil {
		return 0
	}
	return int(max(line, 0))
}
