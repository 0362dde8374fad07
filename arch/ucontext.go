package arch

import "encoding/binary"

// UContext gives offsets, in bytes from the start of the kernel's struct
// ucontext, of what must be known before any frame is unwound: where an
// interrupted thread's own stack is while it runs on an alternate one.
type UContext struct {
	StackBase int // uc_stack.ss_sp, the alternate stack's lowest address
	StackSize int // uc_stack.ss_size
	SP        int // the interrupted SP

	pointer int // bytes of a pointer, and of a size; [Register] fills it in
}

// Word reads one of its members, a word.
func (u *UContext) Word(order binary.ByteOrder, b []byte) uint64 {
	if u.pointer == 4 {
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

// Values of ss_flags in struct sigaltstack (sigaltstack(2)).
const (
	ssOnStack    = 1
	ssAutodisarm = 1 << 31
)

// maxAlternate bounds the size of an alternate stack, bytes.
const maxAlternate = 1 << 32

// End returns the end of what UContext tells of, bytes from the start of a struct ucontext.
func (u *UContext) End() int { return max(u.StackBase, u.StackSize, u.SP) + u.pointer }

// Alternate reports whether a struct ucontext that tells of the alternate stack that sp points into may be at sp+off, in
// that stack, and where the stack is. stack is the memory from sp on; at least [UContext.End] bytes of it are behind off.
func (u *UContext) Alternate(order binary.ByteOrder, sp uint64, off int, stack []byte) (base, size uint64, ok bool) {
	base = u.Word(order, stack[off+u.StackBase:])
	if sp < base {
		return 0, 0, false
	}
	// ss_flags lies between base and size. Other memory hardly ever has a valid value there.
	if f := order.Uint32(stack[off+u.StackBase+u.pointer:]); f&^ssAutodisarm > ssOnStack {
		return 0, 0, false
	}
	size = u.Word(order, stack[off+u.StackSize:])
	at := sp + uint64(off)
	return base, size, size <= maxAlternate && at+uint64(u.End())-base <= size
}
