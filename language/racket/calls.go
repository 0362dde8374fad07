package racket

import "slices"

// Words of a continuation (cmacros.ss), the first of which leads to machine code.
const (
	contStack  = 1
	contLength = 2
	contUsed   = 3 // stack-clength
	contLink   = 4
	contReturn = 5
	contShot   = 1<<64 - word // contLength of one that cannot be used any more, and of the last one
)

// context is what a thread has of Scheme: the segment of the stack on which it runs, and the
// continuation that follows.
type context struct {
	stack, link uint64
	base        uint64 // where the frame of the innermost procedure begins on the stack
	// chains are Racket's list of the continuations that follow; 0 if there is none.
	chains uint64
}

const (
	// slop is how much of the end of a stack procedures leave free without a look, bytes.
	slop = 1 << 10
	// ends is in how many words of the record the place is where it begins.
	ends = 16
	// frameBefore is how many words before the place where the stack ends the record has the frame
	// of the procedure that has called C.
	frameBefore = 2
	// registers is how many registers for programs the record has (virtual-registers), and between
	// how many words are between these and the stack's address. Racket has its list in one of them.
	registers = 16
	between   = 4
	// mostStack bounds the size of a stack, bytes.
	mostStack = 1 << 40
)

// mostContext bounds how many words of a thread's record are looked through.
const mostContext = 128

// contextAt reads the record of a thread. base is where the frame of a procedure begins on the
// thread's stack. ok is false if record leads to no such record.
//
// The record differs from release to release: it is told by its words. The stack's address, a list
// of other stacks, the continuation, and the stack's size stand side by side.
func (r *reader) contextAt(record, base uint64) (c context, ok bool) {
	var w [mostContext]uint64
	var b [mostContext * word]byte
	n, _ := r.Memory().ReadMemory(record, b[:])
	if record%word != 0 || !r.spend(mostContext) {
		return c, false
	}
	for i := range n / word {
		w[i] = r.Arch.Order.Uint64(b[word*i:])
	}
	at := 0
	for i := range len(w) - 3 {
		stack, size := w[i], w[i+3]
		if size%word != 0 || stack%word != 0 || size > mostStack || !r.isContinuation(w[i+2]) {
			continue
		}
		// Old values of registers may look so, too. The end of the stack confirms the right ones,
		// but while the stack is about to change.
		on := func(base uint64) bool { return base >= stack && base-stack <= size }
		end := slices.Index(w[:ends], stack+size-slop)
		switch {
		case end < 0 && (ok || !on(base)):
			continue
		case on(base):
			c, at, ok = context{stack: stack, link: w[i+2], base: base}, i, true
		case end >= frameBefore && on(w[end-frameBefore]): // the collector has moved the stack
			c, at, ok = context{stack: stack, link: w[i+2], base: w[end-frameBefore]}, i, true
		}
		if ok && end >= 0 {
			break
		}
	}
	if !ok {
		return c, false
	}
	for _, v := range w[max(at-registers-between, 0):max(at-between, 0)] {
		if v&tags == pairTag && r.isChain(r.field(v, pairTag, 0)) {
			c.chains = v
			break
		}
		r.Err()
	}
	return c, true
}

// isContinuation reports whether an object is a continuation.
func (r *reader) isContinuation(v uint64) bool {
	defer r.Err()
	entry := r.field(v, closureTag, 0)
	at, ok := r.codeBegin(entry - codeText)
	return entry > codeText && ok && r.Pointer(at)&continuationFlag != 0 && r.OK()
}

// chainResume is which word of Racket's record of a chain, a metacontinuation-frame, leads to the
// continuation.
const chainResume = 2

// isChain reports whether an object is Racket's record of a chain of continuations.
func (r *reader) isChain(v uint64) bool {
	at, ok := r.record(v)
	ok = ok && r.isContinuation(r.Pointer(at+word*chainResume))
	return r.Err() == nil && ok
}

// call is a procedure that waits.
type call struct {
	code code
	ra   uint64 // where it goes on
}

// mostCalls bounds the frames of one stack.
const mostCalls = 1 << 16

// calls returns the procedures that wait outside of the innermost one, the innermost first.
func (r *reader) calls(c context) (list []call, err error) {
	known := map[uint64]header{}
	look := func(ra uint64) (header, bool) {
		h, ok := known[ra]
		if !ok {
			if h, ok = r.headerAt(ra); ok {
				known[ra] = h
			}
		}
		return h, ok
	}
	stack, link, chains, base := c.stack, c.link, c.chains, c.base
	for steps := 0; r.OK(); steps++ {
		if len(list) >= mostCalls || steps >= 2*mostCalls {
			r.Fail("there are more than %d of them", mostCalls)
			break
		}
		ra := uint64(0)
		switch {
		case base > stack:
			ra = r.Pointer(base)
		case base < stack:
			r.Fail("the frame at %#x is not on its stack", base)
		default: // the segment ends, the next one is a continuation's
			at, ok := r.begin(link, closureTag)
			if !ok || !r.isContinuation(link) {
				r.Fail("no continuation is at %#x", link)
				break
			}
			if r.Pointer(at+word*contLength) == contShot { // the chain ends
				if chains&tags != pairTag {
					return list, r.Err()
				}
				frame := r.field(chains, pairTag, 0)
				if !r.isChain(frame) {
					return list, r.Err()
				}
				link, chains = r.field(frame, typedTag, chainResume), r.field(chains, pairTag, 1)
				continue
			}
			stack, ra, link = r.Pointer(at+word*contStack), r.Pointer(at+word*contReturn), r.Pointer(at+word*contLink)
			base = stack + r.Pointer(at+word*contUsed)
		}
		if !r.OK() {
			break
		}
		h, ok := look(ra)
		if !ok {
			r.Fail("no procedure goes on at %#x", ra)
			break
		}
		if h.size == 0 { // the segment is just being parted, and ends here
			stack = base
			continue
		}
		if base-stack < h.size {
			r.Fail("the frame of the procedure at %#x is larger than the stack", ra)
			break
		}
		base -= h.size
		list = append(list, call{h.code, ra})
	}
	return list, r.Err()
}
