package python

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/language"
)

// Owners of frames (enum _frameowner), 3.12 on. A frame of the interpreter or of the C stack is
// where a call of the evaluator begins: it is a local variable of the evaluator.
const (
	ownedByGenerator   = 1
	ownedByInterpreter = 3 // up to 3.13: by the C stack
	ownedByCStack      = 4 // 3.14
)

// mostFrames bounds the frames of a thread.
const mostFrames = 1 << 17

// chain is a thread's frames as they are read.
type chain struct {
	r       *interpreter
	m       *memory
	stack   *language.Stack
	states  int // how many states the thread has, one for each interpreter
	groups  []language.Group
	objects *objects         // reads the frames' variables; nil if nobody wants them, or their layout is not known
	run     []language.Frame // of the evaluator's call whose frames are read
	room    []language.Frame // see grouped
	total   int
	seen    loop
	entered []entered // frames within statements that have handlers, the innermost first
	link    *linking  // of 3.11 and 3.12, while the thread is in the evaluator; else nil
	current uint64    // then the frame that runs, by the innermost record
}

// read reads the frames of a thread state. What was found is kept if it fails.
func (c *chain) read(t *threadState) error {
	switch {
	case c.r.layout.minor <= 10:
		return c.readObjects(t.frame)
	case c.r.layout.minor == 11:
		return c.readCFrames(t.cframe)
	}
	frame := t.frame
	if c.r.layout.minor == 12 {
		var err error
		if frame, err = c.innermost(t.cframe); err != nil {
			return err
		}
	}
	for frame != 0 {
		previous, entry, err := c.frame(frame)
		if err != nil {
			c.end(0)
			return err
		}
		if entry {
			c.end(frame)
		}
		frame = previous
	}
	c.end(0)
	return nil
}

// makeRoom makes room for about n frames.
func (c *chain) makeRoom(n int64) {
	c.run = make([]language.Frame, 0, n)
	c.room = c.run
}

// grouped returns the frames of all groups, the innermost first.
func (c *chain) grouped() (list []language.Frame) {
	n := 0
	for i := range c.groups {
		n += len(c.groups[i].Frames)
	}
	if n == 0 {
		return nil
	}
	if last := c.groups[len(c.groups)-1].Frames; n <= cap(c.room) && &c.room[:n][n-1] == &last[len(last)-1] {
		return c.room[:n:n] // they were read one behind the other
	}
	return framesOf(c.groups)
}

// all returns the frames of a thread state, without their places on the stack.
func (c *chain) all(t *threadState) (list []language.Frame) {
	if c.r.layout.minor <= 10 {
		for at := t.frame; at != 0; {
			x, err := c.object(at)
			if err != nil {
				break
			}
			at = x.back
		}
		return c.run
	}
	_ = c.read(t)
	return c.grouped()
}

// cframe is a _PyCFrame of 3.11 and 3.12: a record on the C stack that each call of the evaluator
// has. It leads to the call's innermost frame.
type cframe struct{ at, frame, previous uint64 }

func (c *chain) cframe(at uint64) (x cframe, err error) {
	x.at = at
	if err := c.step(at); err != nil {
		return x, err
	}
	if x.frame, err = c.m.pointer(at, cframeFrame); err != nil {
		return x, err
	}
	x.previous, err = c.m.pointer(at, cframePrevious)
	return x, err
}

// last reads the record of the thread's innermost call of the evaluator.
func (c *chain) last(at uint64) (x cframe, err error) {
	if x, err = c.cframe(at); err != nil {
		return x, err
	}
	if c.link = c.linking(); c.link != nil {
		x.frame = c.running(&x)
		c.current = x.frame
	}
	return x, nil
}

// running returns the frame that runs, by the innermost record. A generator of 3.12 that gives a
// value is unlinked before the record leads to its caller.
func (c *chain) running(x *cframe) uint64 {
	if c.r.layout.minor != 12 {
		return x.frame
	}
	next, ok := c.link.word(x.at + c.r.layout.at[cframeFrame])
	_, links := c.link.word(x.frame + c.r.layout.at[framePrevious])
	if previous, err := c.m.pointer(x.frame, framePrevious); ok && !links && err == nil && previous == 0 {
		return next
	}
	return x.frame
}

// call reads the frames of one call of the evaluator. ok is false if the call has just begun, and
// has not set its record yet: the call's outermost frame is marked, and must lead to the innermost
// one of the call before it.
func (c *chain) call(x *cframe) (ok bool, err error) {
	if x.frame == 0 { // a thread without frames has its record elsewhere
		return c.link == nil || !c.link.has(x.at), nil
	}
	frame, entry := x.frame, false
	for frame != 0 && !entry {
		if frame, entry, err = c.frame(frame); err != nil {
			return false, err
		}
	}
	before := uint64(0)
	if x.previous != 0 {
		if before, err = c.m.pointer(x.previous, cframeFrame); err != nil {
			return false, err
		}
	}
	return entry && frame == before, nil
}

// innermost returns the innermost frame of 3.12.
func (c *chain) innermost(at uint64) (frame uint64, err error) {
	if at == 0 {
		return 0, nil
	}
	x, err := c.last(at)
	if err != nil {
		return 0, err
	}
	ok, broken := c.call(&x)
	c.run, c.seen = c.run[:0], loop{}
	if ok {
		return x.frame, nil
	}
	previous, err := c.before(&x, broken)
	if previous == 0 {
		return 0, err
	}
	if x, err = c.cframe(previous); err != nil {
		return 0, err
	}
	return x.frame, nil
}

// before returns the record of the call before the innermost one, whose own record is not right, or
// leads to frames that are broken; 0 if there is none. The thread is told where the record is
// before it is written: till then it has the words of an earlier call, or of something else.
func (c *chain) before(x *cframe, broken error) (at uint64, err error) {
	if c.stack == nil || !c.stack.Whole || c.r.evaluator == (span{}) {
		if x.previous == 0 {
			err = broken
		}
		return x.previous, err
	}
	inner, distance := true, uint64(0)
	for _, f := range c.stack.Frames {
		sp := f.Register(c.r.arch.SP)
		cfa, ok := f.CFA()
		if !ok || !sp.Known() || inner && x.at >= cfa {
			continue
		}
		if inner { // it has the record
			if inner = false; f.Level > 0 && broken != nil {
				return 0, broken // it has called others since
			}
			distance = cfa - x.at // equal in all calls of one function
			continue
		}
		if !c.r.isEvaluator(f) {
			continue
		}
		if at := cfa - distance; c.isRecord(at, span{sp.Bits, cfa}) {
			return at, nil
		}
		return 0, errors.New("a call of the evaluator has just begun, and the one before is not found")
	}
	return 0, nil
}

// isRecord reports whether the record of a call of the evaluator is at an address. s is the call's
// part of the stack.
func (c *chain) isRecord(at uint64, s span) bool {
	run, seen, total, entered := c.run, c.seen, c.total, c.entered
	defer func() { c.run, c.seen, c.total, c.entered = run, seen, total, entered }()
	x, err := c.cframe(at)
	if err != nil || x.frame == 0 || !s.has(at) || s.has(x.previous) {
		return false
	}
	ok, _ := c.call(&x)
	return ok
}

// readCFrames reads the frames of 3.11: the outermost frame of each call of the evaluator is
// marked.
func (c *chain) readCFrames(at uint64) error {
	for inner := true; at != 0; inner = false {
		read := c.cframe
		if inner {
			read = c.last
		}
		x, err := read(at)
		if err != nil {
			return err
		}
		seen := c.seen
		ok, err := c.call(&x)
		switch {
		case inner && !ok:
			c.run, c.seen = c.run[:0], seen
			if at, err = c.before(&x, err); err != nil {
				return err
			}
			continue
		case err != nil:
			c.end(at)
			return err
		default:
			c.end(at)
		}
		at = x.previous
	}
	return nil
}

// frame reads one frame, and adds it to the run unless it has no code. entry says that a call of
// the evaluator begins with it.
func (c *chain) frame(at uint64) (previous uint64, entry bool, err error) {
	if err := c.step(at); err != nil {
		return 0, false, err
	}
	l := c.r.layout
	rec, err := c.m.record(at, frameRoom, c.r.framePart)
	if err != nil {
		return 0, false, fmt.Errorf("a frame: %w", err)
	}
	previous = rec.word(framePrevious)
	if at == c.current {
		if caller, ok := c.link.word(at + l.at[framePrevious]); ok && caller != 0 {
			previous = caller
		}
	}
	owner := rec.bytes[l.at[frameOwner]]
	switch {
	case l.minor == 11:
		entry = rec.bytes[l.at[frameIsEntry]] != 0 || at == c.current && c.link.touches(at+l.at[frameIsEntry])
	case owner == ownedByInterpreter, owner == ownedByCStack:
		return previous, true, nil
	case owner > ownedByCStack:
		return 0, false, fmt.Errorf("there is no frame at %#x", at)
	}
	executable := rec.word(frameExecutable)
	if l.minor >= 13 {
		executable &^= 7 // marks of references that are not counted
	}
	code, err := c.r.codeAt(c.m, executable)
	if err != nil {
		return 0, false, fmt.Errorf("the frame at %#x: %w", at, err)
	}
	if code == nil { // None, and other objects of frames that are no function's
		if l.minor < 13 {
			return 0, false, fmt.Errorf("there is no frame at %#x", at)
		}
		return previous, entry, nil
	}
	if code.name == "__init__" && code.file == code.name { // 3.12 on: it checks what a constructor returns
		return previous, entry, nil
	}
	f := language.Frame{Function: code.name, File: code.file, Place: at}
	copy := int32(0)
	if l.has(frameTLBC) {
		copy = rec.number(frameTLBC)
	}
	if start, err := code.start(c.m, copy); err == nil {
		offset := int64(rec.word(frameInstr) - start)
		f.Line = code.line(c.m, offset)
		if h := code.handlerAt(c.m, offset); h != nil {
			c.entered = append(c.entered, entered{at, executable, h.depth, start, offset})
		}
	}
	if c.objects != nil {
		f.Args, f.Locals, _ = c.objects.variables(at, executable) // what cannot be read is left out
	}
	c.run = append(c.run, f)
	return previous, entry, nil
}

// end ends the run of a call of the evaluator, whose record is at an address on the stack; 0 if
// none was found.
func (c *chain) end(at uint64) {
	if len(c.run) == 0 {
		return
	}
	a := language.Anchor{Address: at}
	if at == 0 {
		a = language.Anchor{Level: -1}
	}
	n := len(c.run)
	c.groups = append(c.groups, language.Group{Anchor: a, Frames: c.run[:n:n]})
	c.run = c.run[n:]
}

// step counts a record, and fails where the chain is too long or goes round.
func (c *chain) step(at uint64) error {
	if c.total++; c.total > mostFrames {
		return fmt.Errorf("there are more than %d frames", mostFrames)
	}
	if !c.seen.add(at) {
		return fmt.Errorf("the chain of frames comes back to %#x", at)
	}
	return nil
}

// loop finds out that a chain goes round, by Brent's method: it remembers one address, and another
// one each time that the chain is twice as long.
type loop struct {
	kept        uint64
	count, next int
}

func (l *loop) add(at uint64) bool {
	if l.count > 0 && at == l.kept {
		return false
	}
	if l.count == l.next {
		l.kept, l.next = at, max(1, 2*l.next)
	}
	l.count++
	return true
}
