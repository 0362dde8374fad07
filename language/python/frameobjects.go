package python

import (
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// Up to 3.10 each frame is an object, a PyFrameObject, and each has a call of the evaluator of its
// own. The evaluator puts its frame in front of the thread's chain where it begins, and takes it
// away where it ends. So the calls and the frames are in the same order, and the innermost call may
// have no frame yet, or no more.

// readObjects reads the frames up to 3.10.
func (c *chain) readObjects(at uint64) error {
	var objects []uint64
	var err error
	for at != 0 {
		var x frameObject
		if x, err = c.object(at); err != nil {
			break
		}
		objects = append(objects, at)
		at = x.back
	}
	frames := c.run
	c.run = nil
	c.place(objects, frames, err == nil)
	return err
}

// frameObject is a PyFrameObject.
type frameObject struct {
	back, code uint64
	last       int64 // the instruction that ran last, bytes from the first one; negative if none did
}

// object reads one frame, and adds it to the run.
func (c *chain) object(at uint64) (x frameObject, err error) {
	if err := c.step(at); err != nil {
		return x, err
	}
	rec, err := c.m.record(at, frameRoom, c.r.framePart)
	if err != nil {
		return x, fmt.Errorf("a frame: %w", err)
	}
	x = frameObject{back: rec.word(frameObjectBack), code: rec.word(frameObjectCode), last: int64(rec.number(frameObjectLast))}
	if c.r.layout.minor == 10 && x.last >= 0 {
		x.last *= 2
	}
	blocks := c.r.layout.has(objectBlockCount) && rec.number(objectBlockCount) > 0
	code, err := c.r.codeAt(c.m, x.code)
	if code == nil && err == nil {
		err = fmt.Errorf("there is no frame at %#x", at)
	}
	if err != nil {
		return x, err
	}
	f := language.Frame{Function: code.name, File: code.file, Line: code.line(c.m, x.last), Place: at}
	if c.objects != nil {
		f.Args, f.Locals, _ = c.objects.variables(at, x.code) // what cannot be read is left out
	}
	if blocks {
		c.entered = append(c.entered, entered{frame: at, code: x.code})
	}
	c.run = append(c.run, f)
	return x, nil
}

// place gives each frame the call of the evaluator that runs it.
func (c *chain) place(objects []uint64, frames []language.Frame, whole bool) {
	var calls []*frame.Frame
	for _, f := range c.stack.Frames {
		if c.r.isEvaluator(f) {
			calls = append(calls, f)
		}
	}
	var at []*frame.Frame // by frame, nil where its call is not known
	more := len(calls) - len(objects)
	if c.stack.Whole && whole && (more == 0 || more == 1) && c.states == 1 {
		at = calls[more:]
	} else {
		at = c.matchByContent(calls, objects)
	}
	c.groups = slices.Grow(c.groups, len(at))
	for i, f := range at {
		a := language.Anchor{Level: -1}
		if f != nil {
			cfa, _ := f.CFA()
			a = language.Anchor{Level: f.Level, PC: f.PC(), CFA: cfa}
		}
		if n := len(c.groups); f == nil && n > 0 && c.groups[n-1].Anchor.Level < 0 {
			c.groups[n-1].Frames = append(c.groups[n-1].Frames, frames[i])
			continue
		}
		c.groups = append(c.groups, language.Group{Anchor: a, Frames: frames[i : i+1 : i+1]})
	}
}

// isEvaluator reports whether a physical frame is a call of the evaluator.
func (r *interpreter) isEvaluator(f *frame.Frame) bool {
	pc := f.AddressInBlock()
	if r.evaluator.has(pc) {
		return true
	}
	if pc < r.module.Lo() || pc >= r.module.Hi() || r.evaluator.lo == r.evaluator.hi {
		return false
	}
	entry, ok := r.module.FunctionEntry(pc) // the compiler may have put unlikely code elsewhere
	return ok && entry == r.evaluator.lo
}

// matchByContent finds the calls of frames by the frames' addresses: each call keeps its frame's in
// a register or on its stack.
func (c *chain) matchByContent(calls []*frame.Frame, objects []uint64) []*frame.Frame {
	at := make([]*frame.Frame, len(objects))
	next := 0
	for i, object := range objects {
		for j := next; j < min(len(calls), next+mostSkipped); j++ {
			if c.keeps(calls[j], object) {
				at[i], next = calls[j], j+1
				break
			}
		}
	}
	return at
}

// mostSkipped bounds how many calls without a frame may follow each other, and so the effort.
const mostSkipped = 8

// maxCall bounds the part of the stack of a call of the evaluator that is looked at, bytes.
const maxCall = 4 << 10

// keeps reports whether a physical frame has a word in a register or on its stack.
func (c *chain) keeps(f *frame.Frame, word uint64) bool {
	for _, reg := range c.r.arch.Regs {
		if v := f.Register(reg.Num); v.Known() && v.Bits == word {
			return true
		}
	}
	cfa, ok := f.CFA()
	sp := f.Register(c.r.arch.SP)
	if !ok || !sp.Known() || sp.Bits >= cfa {
		return false
	}
	var room [maxCall]byte
	n, _ := c.m.ReadMemory(sp.Bits, room[:min(cfa-sp.Bits, maxCall)])
	size := c.m.size
	for b := range slices.Chunk(room[:n], size) {
		if len(b) == size && c.m.get(b) == word {
			return true
		}
	}
	return false
}
