package v8

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// Decorate implements [language.Runtime].
func (e *engine) Decorate(s *language.Stack) (*language.Decoration, error) {
	w := &walk{engine: e, stack: s}
	defer w.free()
	for level, f := range s.Frames {
		if w.count <= mostFrames && f.Type() == frame.Normal && w.mayBe(f) {
			w.frame(level, f)
		}
	}
	if w.bare && w.heap != nil {
		w.nameBuiltins()
	}
	told := false
	if !s.FramesAlone {
		w.said.Thread, told = w.told()
	}
	if !told && len(w.said.Groups) == 0 && w.said.Names == nil && w.said.Early == "" {
		return nil, nil
	}
	return &w.said, nil
}

// walk is a look at one stack.
type walk struct {
	*engine
	stack  *language.Stack
	heap   *heap // nil before the first frame that may be V8's
	said   language.Decoration
	count  int  // of frames
	sought bool // the stack was searched for what leads to builtin functions
	caged  int  // of packed values: 1 if their cages are known, -1 if they are not to be found
}

// mostFrames bounds the frames of one stack.
const mostFrames = 1 << 17

func (w *walk) free() {
	if w.heap != nil {
		w.giveHeap(w.stack, w.heap)
	}
}

// reader returns what reads the heap.
func (w *walk) reader() *heap {
	if w.heap == nil {
		w.heap = w.takeHeap(w.stack)
	}
	w.heap.Err()
	return w.heap
}

// mayBe reports whether a frame may be V8's: its code is of no file, or no table tells its frame,
// as of all of V8's builtin functions. A file that does not tell debuggers of V8 may have no tables
// at all: there, it has to be one of these functions.
func (w *walk) mayBe(f *frame.Frame) bool {
	m := f.Module()
	switch {
	case m == nil || m.Registered():
		return true
	case m.Path != w.path || f.Sniffer() == "dwarf" || f.Sniffer() == "sframe":
		return false
	}
	return !w.untold || w.isBuiltin(f)
}

// record is the frame record of a frame of V8's.
type record struct {
	level int
	frame *frame.Frame
	fp    uint64
	mark  uint64 // a context, or what kind of frame it is
	code  code   // of code that V8 has made, and no builtin's: else its object is 0
}

// Where a frame of JavaScript has what, in bytes from its record.
const (
	markAt     = -8
	functionAt = -16
	bytecodeAt = -32
	offsetAt   = -40
	thisAt     = 16
)

func (r *record) at(offset int) uint64 { return r.fp + uint64(offset) }

// frame looks at one frame.
func (w *walk) frame(level int, f *frame.Frame) {
	h := w.reader()
	if h.packed && !w.enter() {
		w.unentered(level)
		return
	}
	r := record{level: level, frame: f}
	if m := f.Module(); m == nil || m.Path != w.path {
		r.code, _ = h.codeAt(f.AddressInBlock())
	}
	if r.code.object != 0 && r.code.kind == h.kindRegExp {
		w.name(level, w.regExp(&r))
		return
	}
	var ok bool
	var frames []language.Frame
	switch r.fp, ok = w.recordOf(level); {
	case ok:
		if r.mark = h.slot(r.at(markAt)); isSmall(r.mark) {
			frames = w.marked(&r)
		} else {
			frames = w.javaScript(&r)
		}
	case level == 0:
		frames = w.entering(&r)
	}
	h.Err()
	if w.count += len(frames); w.count > mostFrames {
		w.said.Early = "there are too many"
		return
	}
	if len(frames) > 0 {
		cfa, _ := f.CFA()
		w.said.Groups = append(w.said.Groups, language.Group{Anchor: language.Anchor{Level: level, PC: f.PC(), CFA: cfa}, Frames: frames})
	}
}

// recordOf returns the address of the frame record of the frame at a level. The record is set up if
// the frame pointer leads to the caller's frame pointer and PC. It need not be where the frame
// ends: some of V8's functions take their arguments off the stack when they return.
func (w *walk) recordOf(level int) (fp uint64, ok bool) {
	if level+1 >= len(w.stack.Frames) {
		return 0, false
	}
	reg := w.stack.Arch.FP
	at, caller := w.stack.Frames[level].Register(reg), w.stack.Frames[level+1]
	outer := caller.Register(reg)
	if !at.Known() || at.Bits == 0 || !outer.Known() {
		return 0, false
	}
	h := w.heap
	saved, pc := h.slot(at.Bits), h.slot(at.Bits+8)
	return at.Bits, h.Err() == nil && saved == outer.Bits && pc == caller.PC()
}

// own says that a frame is V8's own.
func (w *walk) own(level int) { w.said.Own = append(w.said.Own, level) }

// name gives a frame a name.
func (w *walk) name(level int, name string) {
	if w.said.Names == nil {
		w.said.Names = map[int]string{}
	}
	w.said.Names[level] = name
}

// marked looks at a frame that is no JavaScript's.
func (w *walk) marked(r *record) []language.Frame {
	h := w.heap
	switch kind := int64(r.mark >> 1); {
	case r.mark>>1 > uint64(w.kinds.most):
		return nil
	case kind == w.kinds.wasm:
		return w.wasm(r)
	case kind == w.kinds.builtinExit:
		const newTarget, target = 16, 24
		if fn := h.slot(r.at(target)); h.isFunction(fn) {
			f, ok := h.functionOf(h.field(fn, h.functionShared))
			if !ok {
				w.said.Early = unread
				return nil
			}
			constructor := h.isFunction(h.slot(r.at(newTarget)))
			return w.builtin(r, &call{function: f, object: fn, this: value{known: true, word: h.onStack(r.at(h.exitThis))}, constructor: constructor})
		}
	}
	if r.level > 0 {
		w.own(r.level)
	}
	return nil
}

// isContext reports whether a value is the context of a function. Who asks again and again is
// content with a value that may be one: the function has to be sound, too.
func (h *heap) isContext(v uint64) bool {
	if h.kept != nil {
		return isPointer(v)
	}
	t, ok := h.typeOf(v)
	return ok && t >= h.types.context && t < h.types.contextEnd
}

// unread says that a function is missing.
const unread = "a function of JavaScript cannot be read, and is missing"

// javaScript looks at a frame that has a function.
func (w *walk) javaScript(r *record) []language.Frame {
	h := w.heap
	x := call{object: h.slot(r.at(functionAt))}
	shared := uint64(0)
	if h.isContext(r.mark) {
		shared = h.sharedOf(x.object)
	}
	if shared != 0 {
		x.this, x.constructor = value{known: true, word: h.onStack(r.at(thisAt))}, w.constructs(r)
	}
	h.Err()
	bytecode := uint64(0) // that runs, of code that is not optimized
	optimized := r.code.object != 0 && r.code.kind > h.baseline
	switch {
	case optimized:
	case r.code.object != 0 && r.code.kind == h.baseline:
		bytecode = h.bytecodeIn(h.protected(r.code.object, h.codeDeopt))
	default:
		bytecode = h.slot(r.at(bytecodeAt))
	}
	f, ok := h.functionOf(shared)
	if w.stack.Later && (!ok || !w.runs(r, &f, shared, bytecode)) {
		// The function object has moved. What runs has not.
		h.Err()
		x = call{}
		if !optimized {
			shared = h.kept.sharedOf(bytecode)
		} else {
			shared = h.compiledFrom(&r.code)
		}
		f, ok = h.functionOf(shared)
		ok = ok && w.runs(r, &f, shared, bytecode)
	}
	if !ok {
		// The innermost frame may just be being made.
		if r.level > 0 && (r.code.object != 0 && r.code.kind >= h.baseline || h.is(bytecode, h.types.bytecodeArray)) {
			w.said.Early = unread
		}
		return nil
	}
	x.function, x.shared = f, shared
	switch {
	case f.builtin || f.api:
		return w.builtin(r, &x)
	case optimized:
		return w.optimized(r, &x, shared)
	case r.code.object != 0 && r.code.kind == h.baseline:
		x.offset, x.kind = w.baselineOffset(r, bytecode), "baseline"
	case f.bytecode == 0: // an exported function of WebAssembly's: it stands within
		w.own(r.level)
		return nil
	default:
		if bytecode != f.bytecode && !h.is(bytecode, h.types.bytecodeArray) {
			w.said.Early = unread
			return nil
		}
		x.offset, x.guess = w.interpreterOffset(r, bytecode)
		x.kind = "interpreted"
	}
	if h.kept != nil {
		h.kept.keepShared(bytecode, shared)
	}
	x.bytecode = bytecode
	return w.frames(&x)
}

// runs reports whether a frame runs a function: what it runs leads to that.
func (w *walk) runs(r *record, f *function, shared, bytecode uint64) bool {
	h := w.heap
	switch {
	case r.code.object != 0 && r.code.kind > h.baseline:
		return h.compiledFrom(&r.code) == shared
	case r.code.object != 0 && r.code.kind == h.baseline || !f.builtin && !f.api:
		return f.bytecode == bytecode
	}
	is := h.is(bytecode, h.types.bytecodeArray)
	h.Err()
	return !is
}
