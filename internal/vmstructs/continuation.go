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
	if b.At == 0 || c.name.Type == "" || !bytes.Equal(r.Read(pc, len(loadsSP)), loadsSP) {
		return false
	}
	name, ok := r.Pointer(b.At, c.name)
	return ok && strings.HasPrefix(r.Name(name), "StubRoutines (continuation")
}

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
