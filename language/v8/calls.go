package v8

import (
	"cmp"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/language"
)

// call is a function that runs.
type call struct {
	function
	shared      uint64 // the SharedFunctionInfo; 0 if it is not known
	object      uint64 // the function object; 0 if it is not known
	this        value
	constructor bool // it is called by "new"
	offset      int  // in its bytecode; -1 if that is not known
	kind        string
	guess       bool // it, or its place, need not be right
}

// callKey tells a call from others of the same moment.
type callKey struct {
	shared, object, bytecode uint64
	this                     value
	offset                   int
	kind                     string
	constructor              bool
	guess, later             bool
}

// frames returns the frame of a call.
func (w *walk) frames(x *call) []language.Frame {
	if x.shared == 0 {
		return []language.Frame{w.callFrame(x)}
	}
	h := w.heap
	key := callKey{x.shared, x.object, x.bytecode, x.this, x.offset, x.kind, x.constructor, x.guess, w.stack.Later}
	f, ok := h.calls[key]
	if !ok {
		f = keep(h.calls, key, w.callFrame(x))
	}
	return []language.Frame{f}
}

func (w *walk) callFrame(x *call) language.Frame {
	h, k := w.heap, w.heap.kept
	if k == nil {
		k = &h.once // frames of a recursion are equal
	}
	key := frameKey{function: x.function, object: x.object, this: x.this.shape, offset: x.offset, kind: x.kind, constructor: x.constructor, guess: x.guess, later: w.stack.Later}
	if x.this.known && isPointer(x.this.word) {
		key.this = h.mapOf(x.this.word)
	}
	if !h.isMethodCall(&x.this) && h.isPlain(x.object) {
		key.object = 0 // all such functions are called the same
	}
	h.Err()
	f, ok := k.frame(&key)
	if !ok {
		f = w.read(x)
		if !h.isFunction(x.this.word) { // else the class is not in its Map
			k.keepFrame(&key, f)
		}
		h.Err()
	}
	return f
}

// read reads the frame of a call. A function without a table of positions has the line in which
// it begins, which is a guess, unless it ends there, too.
func (w *walk) read(x *call) language.Frame {
	h := w.heap
	position := h.positionAt(x.bytecode, x.offset)
	if h.Err() != nil {
		position = -1
	}
	known := position >= 0
	if !known {
		position = x.start
	}
	p := h.placeOf(&w.lines, x.script, position)
	if h.Err() != nil {
		p.line = 0
	}
	if !known && p.line > 0 && !x.guess {
		end := h.placeOf(&w.lines, x.script, x.end)
		x.guess = h.Err() != nil || end.line != p.line
	}
	f := language.Frame{File: p.file, Line: p.line, Kind: x.kind, Guess: x.guess, Place: x.script}
	if known && p.line > 0 {
		f.Column = p.column
	}
	this := x.this
	if w.stack.Later && !x.constructor && h.methodFound(&x.function, x.object, this.word) == "" {
		this = value{} // the object may be another one by now
	}
	f.Function = h.nameOf(&x.function, x.object, this, x.constructor)
	if h.Err() != nil {
		f.Function = cmp.Or(x.name, anonymous)
	}
	return f
}

// constructs reports whether the caller's frame belongs to "new".
func (w *walk) constructs(r *record) bool {
	fp, ok := w.recordOf(r.level + 1)
	if !ok {
		return false
	}
	mark := w.heap.slot(fp - 8)
	return isSmall(mark) && (int64(mark>>1) == w.kinds.construct || int64(mark>>1) == w.kinds.fastConstruct)
}

// builtin returns the frame of a function that is no JavaScript: V8's own, or of the program that
// has V8 in it.
func (w *walk) builtin(r *record, x *call) []language.Frame {
	x.offset, x.kind = -1, "builtin"
	if x.api {
		x.kind = "native"
	} else if !x.native { // V8's own traces leave it out, too
		w.own(r.level)
		return nil
	}
	return w.frames(x)
}

// interpreterOffset returns the offset in bytecode that the interpreter has noted in its frame.
// It notes it where it calls something. Else it is in a register, as long as the code for one
// bytecode does not need that for something else.
func (w *walk) interpreterOffset(r *record, bytecode uint64) (offset int, guess bool) {
	h := w.heap
	raw := smallOf(h.onStack(r.at(offsetAt)))
	if r.level > 0 {
		if _, ok := w.recordOf(r.level - 1); ok || r.level > 1 {
			return raw - int(h.bytecodes) + 1, false
		}
		w.own(0) // the interpreter's code for one bytecode
	}
	guess = true
	inner := w.stack.Frames[0]
	array, at := inner.Register(amd64.R12), inner.Register(amd64.R9)
	if n := h.small(bytecode, h.bytecodeLength); array.Known() && at.Known() && array.Bits == bytecode && at.Bits-h.bytecodes+1 < uint64(max(n, 0)) {
		raw = int(at.Bits)
	}
	return raw - int(h.bytecodes) + 1, guess
}

// baselineOffset returns the offset in bytecode of a place in code of the baseline compiler.
func (w *walk) baselineOffset(r *record, bytecode uint64) int {
	h := w.heap
	at := r.frame.AddressInBlock()
	if offset, ok := h.offsets[at]; ok {
		return offset
	}
	table := h.bytes(h.protected(r.code.object, h.codePositions), mostTable)
	n := h.small(bytecode, h.bytecodeLength)
	if bytecode == 0 || n < 0 || n > mostBytecode {
		return -1
	}
	p := h.raw(bytecode-1+h.bytecodes, n)
	offset := h.baselineOffset(table, p, int(at+1-r.code.lo))
	if h.OK() {
		keep(h.offsets, at, offset)
	}
	return offset
}

// optimized returns the frames that are one frame of an optimizing compiler's code.
func (w *walk) optimized(r *record, x *call, shared uint64) (frames []language.Frame) {
	h := w.heap
	kind := "turbofan"
	if r.code.kind == h.baseline+1 {
		kind = "maglev"
	}
	s := h.siteOf(&r.code, r.frame.PC())
	list := s.list
	if len(list) > 0 && list[len(list)-1].shared != shared {
		list = nil
	}
	if w.stack.Later && len(list) == 0 && h.compiledFrom(&r.code) != shared {
		w.said.Early = unread // the code, or the function, may be another one by now
		return nil
	}
	for i, n := range list {
		y := call{shared: n.shared, object: n.function.at(h, r.fp).word, this: n.this.at(h, r.fp), constructor: n.constructor, offset: n.offset, kind: "inlined", guess: !s.exact}
		if i == len(list)-1 { // the compiled function itself
			y.object, y.constructor, y.kind = x.object, x.constructor, kind
		}
		var ok bool
		if y.function, ok = h.functionOf(n.shared); !ok {
			w.said.Early = unread
			break
		}
		if y.bytecode == 0 && !y.builtin && !y.api && i < len(list)-1 {
			continue // an exported function of WebAssembly's, which stands within
		}
		if n.builtin || y.builtin {
			y.offset = -1
			if !y.native {
				continue
			}
			y.kind = "builtin"
		}
		frames = append(frames, w.frames(&y)...)
	}
	if len(list) > 0 {
		return frames
	}
	x.offset, x.kind, x.guess = -1, kind, true
	return w.frames(x)
}

// entering returns the frame of a function that is just being entered, or left: it has no frame
// record.
func (w *walk) entering(r *record) []language.Frame {
	h := w.heap
	if r.code.object == 0 || r.code.kind < h.baseline || w.stack.Later {
		return nil
	}
	fn := r.frame.Register(amd64.RDI)
	if !fn.Known() || !h.isFunction(fn.Bits) {
		h.Err()
		return nil
	}
	f, ok := h.functionOf(h.field(fn.Bits, h.functionShared))
	cfa, known := r.frame.CFA()
	if !ok || !known {
		return nil
	}
	x := call{function: f, object: fn.Bits, offset: -1, guess: true, kind: "baseline"}
	if own := h.protected(r.code.object, h.codeDeopt); r.code.kind == h.baseline {
		if h.bytecodeIn(own) != f.bytecode {
			return nil
		}
	} else if h.sharedIn(own) != h.field(fn.Bits, h.functionShared) {
		return nil
	} else if x.kind = "turbofan"; r.code.kind == h.baseline+1 {
		x.kind = "maglev"
	}
	x.this = value{known: true, word: h.onStack(cfa)}
	return w.frames(&x)
}
