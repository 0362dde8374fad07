package python

import (
	"fmt"

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
	l := r.layout
	if !l.has(generatorFrame, generatorStateField) {
		return nil, 0, fmt.Errorf("the layout of coroutines of Python 3.%d is not known", l.minor)
	}
	c := chain{r: r, m: o.memory}
	defer func() {
		frames = c.run
		for i, j := 0, len(frames)-1; i < j; i, j = i+1, j-1 {
			frames[i], frames[j] = frames[j], frames[i]
		}
	}()
	for n := 0; coroutine != 0; n++ {
		if n == mostAwaited {
			return nil, state, fmt.Errorf("more than %d coroutines await each other", mostAwaited)
		}
		var b [1]byte
		if n, err := o.ReadMemory(coroutine+l.at[generatorStateField], b[:]); n == 0 {
			return nil, state, fmt.Errorf("the coroutine at %#x: %w", coroutine, err)
		}
		is, awaits, known := stateOf(l.minor, int8(b[0]))
		if n == 0 {
			state = is
		}
		if is == finished {
			return nil, state, nil
		}
		frame := coroutine + l.at[generatorFrame]
		if _, _, err := c.frame(frame); err != nil {
			return nil, state, err
		}
		if is != suspended {
			return nil, state, nil // its frames are on a stack, or it has not begun
		}
		if !known {
			if awaits, err = r.resumesAwait(o, frame); err != nil {
				return nil, state, err
			}
		}
		if !awaits {
			return nil, state, nil
		}
		top, err := r.stackTop(o, frame)
		if err != nil {
			return nil, state, err
		}
		coroutine = o.awaitable(top)
	}
	return nil, state, nil
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
		if n <= 0 || n > 1<<20 {
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

// awaitable returns the coroutine or generator that an awaited object is, or to which it leads; 0 if
// it is none.
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
