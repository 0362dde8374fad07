package vmstructs

import (
	"bytes"
	"strings"
)

// Continuations says how the stacks of virtual threads end. A thread that carries one has only its
// innermost frames on its stack: the others stay on the heap until control returns to them. The
// outermost frame on the stack returns to a stub, the return barrier, which brings the next ones.
type Continuations struct {
	barrier, name Field
	// Record is the size, in bytes, of the record by which a thread enters a continuation; 0 if
	// that is not known.
	Record uint64
}

// Continuations returns how the stacks of virtual threads end.
func (t *Needed) Continuations() Continuations {
	return Continuations{t.Fields["StubRoutines::_cont_returnBarrier"], t.Fields["CodeBlob::_name"], t.Types["ContinuationEntry"].Size}
}

// loadsSP begins the instruction with which the barrier begins on amd64: mov disp32(%r15),%rsp. It
// takes the stack pointer from the thread's record.
var loadsSP = []byte{0x49, 0x8b, 0xa7}

// IsReturnBarrier reports whether a frame that returns to pc returns to the barrier. b is the blob
// that pc is in. Releases up to 26 do not tell where the barrier is, but what its code is called.
func (c *Continuations) IsReturnBarrier(r *Reader, b *Blob, pc uint64) bool {
	if c.barrier.Offset != 0 {
		at, ok := r.Word(c.barrier.Offset)
		return ok && at == pc && at != 0
	}
	if !bytes.Equal(r.Read(pc, len(loadsSP)), loadsSP) {
		return false
	}
	return c.hasStubs(r, b)
}

// hasStubs reports whether a blob has the stubs of continuations.
func (c *Continuations) hasStubs(r *Reader, b *Blob) bool {
	if b.At == 0 || c.name.Type == "" {
		return false
	}
	name, ok := r.Pointer(b.At, c.name)
	return ok && strings.HasPrefix(r.Name(name), "StubRoutines (continuation")
}

// Instructions of the stubs on amd64. A stub that moves frames calls C++ twice: it then tests how
// much room they take, and at last takes the stack pointer of the innermost frame. A third call,
// for an exception, finds the handler to which the stub jumps.
var (
	testsRoom = []byte{0x48, 0x85, 0xdb} // test %rbx,%rbx
	takesSP   = []byte{0x48, 0x8b, 0xe3} // mov %rbx,%rsp
	jumps     = []byte{0xff, 0xe3}       // jmp *%rbx
)

// Moves reports whether a call that returns to pc is the one by which a stub has frames of a
// virtual thread moved from the heap to the stack. b is the blob that pc is in.
func (c *Continuations) Moves(r *Reader, b *Blob, pc uint64) bool {
	const near = 48 // bytes of code
	if !c.hasStubs(r, b) || pc < b.Lo || pc >= b.Hi {
		return false
	}
	code := r.Read(pc, int(min(near, b.Hi-pc)))
	for i := range code {
		switch at := code[i:]; {
		case bytes.HasPrefix(at, testsRoom), bytes.HasPrefix(at, takesSP):
			return true
		case bytes.HasPrefix(at, jumps):
			return false
		}
	}
	return false
}

// Barrier returns the address of the return barrier, or of the one for exceptions, which begins
// alike, in the blob of the stubs.
func (c *Continuations) Barrier(r *Reader, b *Blob) (pc uint64, ok bool) {
	for lo, left := b.Lo, mostStubs; lo < b.Hi && left > 0; left-- {
		n := min(MostRead, b.Hi-lo)
		if i := bytes.Index(r.Read(lo, int(n)), loadsSP); i >= 0 {
			return lo + uint64(i), true
		}
		lo += max(n, uint64(len(loadsSP))) - uint64(len(loadsSP)) + 1
	}
	return 0, false
}

// mostStubs bounds how often [Continuations.Barrier] reads a piece of code. All stubs together take
// some 2 KiB.
const mostStubs = 64

// Entry returns the address of the record by which a thread has entered the continuation that it
// runs last. pc is the return barrier, and thread the thread's record.
func (c *Continuations) Entry(r *Reader, pc, thread uint64) (at uint64, ok bool) {
	code := r.Read(pc, len(loadsSP)+4)
	if len(code) < len(loadsSP)+4 || !bytes.HasPrefix(code, loadsSP) || thread == 0 {
		return 0, false
	}
	at, ok = r.Word(thread + uint64(int64(int32(r.Order.Uint32(code[len(loadsSP):])))))
	return at, ok && at != 0
}
