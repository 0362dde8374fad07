package v8

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/target"
)

// isolate is a heap with what runs on it. One thread at a time is in it.
type isolate struct {
	at     uint64
	words  []uint64 // its first ones
	thread int      // the ID of the thread that is in it
	maps   rootMaps
}

// rootMaps are Maps that all objects of a type share. They are among the roots.
type rootMaps struct {
	free     uint64 // of free memory
	reaction uint64
}

// Bounds of isolates, and of the stacks in which they are looked for.
const (
	isolateWords  = 12 << 10 // that have the heap's, as far as they are needed
	mostRoots     = 3 << 10  // words from the beginning to the end of the roots
	mostIsolates  = 1 << 10
	mostStack     = 512 << 10 // bytes from the stack pointer on
	innermost     = 64 << 10  // the same, where it is not known how far the stack goes
	mostPointers  = 4 << 10   // on a stack
	mostLocal     = 64 << 10  // bytes of a thread's own variables
	farthestLimit = 4 << 20   // bytes between a stack pointer and the limit of the stack
	slack         = 64 << 10
	rootBias      = 128
	isolateSelf   = 8  // in the isolate: its own address
	stackLimit    = 16 // in the isolate: where the stack ends; it is changed to interrupt
	realLimit     = 32 // the same; it stays
)

// isolateOf finds the isolate that a thread is in, whose stack begins at sp and ends at end. root
// is what JavaScript's code has in a register. Where other code runs, there is a pointer to the
// isolate on the stack, as each scope of handles has one; or, as in Deno while it waits, only among
// the thread's own variables, which end at the thread pointer. The isolate has the limit of this
// stack. isolateOf returns nil if there is none.
func (h *heap) isolateOf(sp, end, root, thread uint64) (found *isolate) {
	is := func(p uint64) bool {
		if h.Uint(p+isolateSelf, 8) == p && h.limits(p, sp) {
			found = h.isolateAt(p)
		}
		h.Err()
		return found != nil
	}
	if is(root - rootBias) {
		return found
	}
	if h.pointers(sp, end, is); found == nil && thread%8 == 0 && thread > h.threadLocal {
		h.pointers(thread-h.threadLocal, thread, is)
	}
	return found
}

// pointers hands out what may be pointers on a stack, each once, until is returns true.
func (h *heap) pointers(sp, end uint64, is func(p uint64) bool) {
	seen := map[uint64]bool{}
	h.eachWord(sp&^7, min(end-sp, mostStack), func(_, p uint64) bool {
		if p%8 != 0 || p < 1<<12 || p >= 1<<47 || seen[p] {
			return true
		}
		seen[p] = true
		return !is(p) && len(seen) < mostPointers
	})
}

// eachWord hands out the words from an address on, until one cannot be read, or do returns false.
func (h *heap) eachWord(at, most uint64, do func(at, word uint64) bool) {
	var block [1 << 10]byte
	for end := at + most; at < end; {
		n := min(uint64(len(block)), end-at)
		if !h.Bytes(at, block[:n]) { // the memory may end within
			h.Err()
			if n = 8; !h.Bytes(at, block[:n]) {
				h.Err()
				return
			}
		}
		for i := uint64(0); i+8 <= n; i += 8 {
			if !do(at+i, h.Arch.Order.Uint64(block[i:])) {
				return
			}
		}
		at += n
	}
}

// limits reports whether an isolate may be at an address, which has the limit of a stack.
func (h *heap) limits(at, sp uint64) bool {
	for _, offset := range []uint64{stackLimit, realLimit} {
		if limit := h.Uint(at+offset, 8); h.OK() && limit%2 == 0 && sp+slack-limit < farthestLimit {
			return true
		}
	}
	return false
}

// isolateAt reads the isolate at an address, nil if there is none.
func (h *heap) isolateAt(at uint64) *isolate {
	x := &isolate{at: at}
	h.eachWord(at, 8*isolateWords, func(_, word uint64) bool {
		x.words = append(x.words, word)
		return true
	})
	m := &x.maps
	for _, v := range x.words[:min(mostRoots, len(x.words))] {
		if !isPointer(v) || !h.is(v, h.types.meta) {
			h.Err()
			continue
		}
		if m.free == 0 { // it is the first root
			m.free = v
		}
		if uint16(h.Uint(v-1+h.mapType, 2)) == h.async.reaction {
			m.reaction = v
			break
		}
	}
	h.Err()
	if m.reaction == 0 || len(x.words) < firstSpaces/8 {
		return nil
	}
	return x
}

// isolates finds the isolates that threads are in.
func (h *heap) isolates(threads []target.Thread) (list []*isolate) {
	known := map[uint64]bool{}
	for _, th := range threads {
		var regs arch.Registers
		if th.Registers(&regs) != nil {
			continue
		}
		sp, ok := regs.Get(h.Arch.SP)
		if !ok {
			continue
		}
		root, _ := regs.Get(amd64.R13)
		thread, _ := regs.Get(amd64.FSBase)
		x := h.isolateOf(sp, sp+innermost, root, thread)
		if x == nil || known[x.at] {
			continue
		}
		known[x.at] = true
		x.thread = th.ID()
		if list = append(list, x); len(list) == mostIsolates {
			break
		}
	}
	return list
}
