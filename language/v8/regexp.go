package v8

import "strings"

// Where a regular expression has what, in bytes, and bounds of the search for one.
const (
	regExpData    = 24
	regExpSource  = 32
	regExpFlags   = 40
	regExpFields  = 20 // words of its data, one of which leads to its code
	regExpCallers = 10 // frames that may hold it
	regExpSlots   = 64 // words of each frame
)

// regExp names the code of a regular expression: "RegExp /a+b/i". The code does not tell whose it
// is. But who has called it holds the object, which leads to the code.
func (w *walk) regExp(r *record) string {
	name, ok := w.heap.patterns[r.code.object]
	if !ok {
		name = keep(w.heap.patterns, r.code.object, w.findRegExp(r))
	}
	return name
}

func (w *walk) findRegExp(r *record) string {
	h := w.heap
	const name = "RegExp"
	if h.packed {
		return name // objects do not lead to code there
	}
	frames := w.stack.Frames[r.level:]
	for _, f := range frames[:min(len(frames), regExpCallers)] {
		sp := f.Register(w.stack.Arch.SP)
		cfa, ok := f.CFA()
		if !ok || !sp.Known() {
			return name
		}
		for at := sp.Bits; at < cfa && at-sp.Bits < 8*regExpSlots && h.spend(64); at += 8 {
			v := h.slot(at)
			if h.Err() == nil && h.is(v, h.types.regExp) && h.leadsTo(h.field(v, regExpData), r.code.object) {
				return name + " " + h.pattern(v)
			}
			h.Err()
		}
	}
	return name
}

// leadsTo reports whether the data of a regular expression have its code, or an object whose first
// field that is.
func (h *heap) leadsTo(data, code uint64) bool {
	for i := range uint64(regExpFields) {
		v := h.field(data, 8+8*i)
		if h.Err() != nil {
			return false
		}
		if v == code || isPointer(v) && h.field(v, 8) == code {
			h.Err()
			return true
		}
		h.Err()
	}
	return false
}

// pattern returns a regular expression as a program has it.
func (h *heap) pattern(regExp uint64) string {
	source, flags := h.text(h.field(regExp, regExpSource)), h.small(regExp, regExpFlags)
	if h.Err() != nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("/" + source + "/")
	for _, f := range []struct {
		letter byte
		bit    int
	}{{'d', 7}, {'g', 0}, {'i', 1}, {'l', 6}, {'m', 2}, {'s', 5}, {'u', 4}, {'v', 8}, {'y', 3}} {
		if flags>>f.bit&1 != 0 {
			b.WriteByte(f.letter)
		}
	}
	return b.String()
}
