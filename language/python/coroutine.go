package python

import (
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/language"
)

// generatorState is how far a generator or coroutine has come (enum _framestate).
type generatorState uint8

const (
	created generatorState = iota
	suspended
	executing
	finished
)

// stateOf returns the state of a generator. awaits says that it is suspended in "await" or "yield
// from"; known is false where a release keeps that elsewhere.
func stateOf(minor int, v int8) (state generatorState, awaits, known bool) {
	if minor >= 15 { // the numbers begin at 0
		switch {
		case v == 0:
			return created, false, true
		case v >= 1 && v <= 3:
			return suspended, v != 1, true
		case v == 4:
			return executing, false, true
		}
		return finished, false, true
	}
	switch {
	case v == 0:
		return executing, false, true
	case v > 0:
		return finished, false, true
	case minor >= 13:
		return [...]generatorState{created, suspended, suspended}[min(max(v+3, 0), 2)], v == -1, true
	case v == -1:
		return suspended, false, false
	}
	return created, false, true
}

// mostAwaited bounds the coroutines of one task, each of which awaits the next.
const mostAwaited = 1 << 12

// awaited reads the frames of a coroutine, and of the coroutines that it awaits, the innermost
// first, and the state of the outermost. What it awaits may be a future, or an iterator of
// another kind, at which the frames end. What was read is returned with an error.
func (r *interpreter) awaited(o *objects, coroutine uint64) (frames []language.Frame, state generatorState, err error) {
	step := r.generator
	if r.layout.minor <= 10 {
		step = r.generatorObject
	}
	c := chain{r: r, m: o.memory}
	for n := 0; coroutine != 0 && err == nil; n++ {
		if n == mostAwaited {
			err = fmt.Errorf("more than %d coroutines await each other", mostAwaited)
			break
		}
		var is generatorState
		var top uint64
		is, top, err = step(&c, o, coroutine)
		if n == 0 {
			state = is
		}
		coroutine = 0
		if top != 0 {
			coroutine = o.awaitable(top)
		}
	}
	slices.Reverse(c.run)
	return c.run, state, err
}

// generator reads the frame of a generator or coroutine, and what it awaits; 0 if it does not.
func (r *interpreter) generator(c *chain, o *objects, at uint64) (is generatorState, awaited uint64, err error) {
	l := r.layout
	if !l.has(generatorFrame, generatorStateField) {
		return 0, 0, fmt.Errorf("the layout of coroutines of Python 3.%d is not known", l.minor)
	}
	b, err := o.byteAt(at + l.at[generatorStateField])
	if err != nil {
		return 0, 0, fmt.Errorf("the coroutine at %#x: %w", at, err)
	}
	is, awaits, known := stateOf(l.minor, int8(b))
	if is == finished {
		return is, 0, nil
	}
	frame := at + l.at[generatorFrame]
	if _, _, err := c.frame(frame); err != nil || is != suspended {
		return is, 0, err
	}
	if !known {
		if awaits, err = r.resumesAwait(o, frame); err != nil {
			return is, 0, err
		}
	}
	if !awaits {
		return is, 0, nil
	}
	awaited, err = r.stackTop(o, frame)
	return is, awaited, err
}

// generatorObject is generator up to 3.10, where the frame is an object.
func (r *interpreter) generatorObject(c *chain, o *objects, at uint64) (is generatorState, awaited uint64, err error) {
	l := r.layout
	running := frameObjectExecuting
	if l.minor == 10 {
		running = frameObjectState
	}
	if !l.has(generatorFrameObject, running, frameObjectValues, codeCode) {
		return 0, 0, fmt.Errorf("the layout of coroutines of Python 3.%d is not known", l.minor)
	}
	frame, err := o.pointer(at, generatorFrameObject)
	if err != nil || frame == 0 {
		return finished, 0, err
	}
	x, err := c.object(frame)
	if err != nil {
		return suspended, 0, err
	}
	if name, err := o.fieldText(at, generatorName); err == nil { // the code has no qualified name yet
		c.run[len(c.run)-1].Function = name
	}
	b, err := o.byteAt(frame + l.at[running])
	switch {
	case err != nil:
		return suspended, 0, err
	case l.minor == 10 && b == 0, l.minor < 10 && b != 0: // FRAME_EXECUTING; f_executing
		return executing, 0, nil
	case x.last < 0:
		return created, 0, nil
	}
	// It awaits if the next instruction, of two bytes, is YIELD_FROM.
	const yieldFrom = 72
	code, err := o.pointer(x.code, codeCode)
	if err != nil {
		return suspended, 0, err
	}
	next, err := o.byteAt(code + l.at[bytesData] + uint64(x.last) + 2)
	if err != nil || next != yieldFrom {
		return suspended, 0, err
	}
	end := uint64(0)
	if l.has(frameObjectTop) {
		end, err = o.pointer(frame, frameObjectTop)
	} else if end, err = o.pointer(frame, frameObjectValues); err == nil {
		var n int32
		n, err = o.int32(frame + l.at[frameObjectDepth])
		if n <= 0 || n > mostValues {
			return suspended, 0, fmt.Errorf("the frame at %#x has %d values", frame, n)
		}
		end += uint64(n) * uint64(o.size)
	}
	if err == nil {
		awaited, err = o.word(end - uint64(o.size))
	}
	return suspended, awaited, err
}

// mostValues bounds the values of a frame.
const mostValues = 1 << 20

// byteAt reads one byte.
func (m *memory) byteAt(addr uint64) (byte, error) {
	var b [1]byte
	if n, err := m.ReadMemory(addr, b[:]); n == 0 {
		return 0, err
	}
	return b[0], nil
}

// resumesAwait reports whether the frame of a generator goes on within "await" or "yield from": its
// next instruction, RESUME, says so by an argument of 2 or 3 (3.11, 3.12).
func (r *interpreter) resumesAwait(o *objects, frame uint64) (bool, error) {
	at, err := o.pointer(frame, frameInstr)
	if err != nil {
		return false, err
	}
	var unit [2]byte
	if n, err := o.ReadMemory(at+2, unit[:]); n < len(unit) {
		return false, fmt.Errorf("the code of the frame at %#x: %w", frame, err)
	}
	return unit[1]&3 >= 2, nil
}

// stackTop returns the object that is the last on the stack of values of a frame that is suspended
// in "await".
func (r *interpreter) stackTop(o *objects, frame uint64) (uint64, error) {
	l := r.layout
	end := uint64(0)
	switch {
	case l.has(frameStackPointer):
		at, err := o.pointer(frame, frameStackPointer)
		if err != nil {
			return 0, err
		}
		end = at
	case l.has(frameStackTop, frameLocals):
		n, err := o.int32(frame + l.at[frameStackTop])
		if err != nil {
			return 0, err
		}
		if n <= 0 || n > mostValues {
			return 0, fmt.Errorf("the frame at %#x has %d values", frame, n)
		}
		end = frame + l.at[frameLocals] + uint64(n)*uint64(o.size)
	default:
		return 0, fmt.Errorf("the layout of frames of Python 3.%d is not known", l.minor)
	}
	if l.minor >= 15 { // an iterator is followed by its index, which objects that are awaited lack
		end -= uint64(o.size)
	}
	v, err := o.word(end - uint64(o.size))
	return o.reference(v), err
}

// awaitable returns the coroutine or generator that an awaited object is, or to which it leads; 0
// if it is none.
func (o *objects) awaitable(object uint64) uint64 {
	for range 4 {
		c, err := o.typeOf(object)
		if err != nil {
			return 0
		}
		switch c.name {
		case "coroutine", "generator", "async_generator":
			return object
		case "coroutine_wrapper", "async_generator_asend", "async_generator_athrow", "anext_awaitable":
			// The first field is what it drives.
			if object, err = o.word(object + o.head()); err != nil {
				return 0
			}
		default:
			return 0
		}
	}
	return 0
}

// head returns the size of the part that all objects have, bytes: it ends with the type.
func (o *objects) head() uint64 { return o.layout.at[objectType] + uint64(o.size) }
