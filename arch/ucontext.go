package arch

import "encoding/binary"

// UContext gives offsets, in bytes from the start of the kernel's struct
// ucontext, of what must be known before any frame is unwound: where an
// interrupted thread's own stack is while it runs on an alternate one.
type UContext struct {
	StackBase int // uc_stack.ss_sp, the alternate stack's lowest address
	StackSize int // uc_stack.ss_size
	SP        int // the interrupted SP
}

// Values of ss_flags in struct sigaltstack (sigaltstack(2)).
const (
	ssOnStack    = 1
	ssAutodisarm = 1 << 31
)

// maxAlternate bounds the size of an alternate stack, bytes.
const maxAlternate = 1 << 32

// UContextEnd returns the end of what UContext tells of, bytes from the start of a struct ucontext.
func (a *Arch) UContextEnd() int {
	return max(a.UContext.StackBase, a.UContext.StackSize, a.UContext.SP) + a.PtrSize
}

// AlternateStack reports whether a struct ucontext that tells of the alternate stack that sp points
// into may be at sp+off, in that stack, and where the stack is. stack is the memory from sp on; at
// least [Arch.UContextEnd] bytes of it are behind off.
func (a *Arch) AlternateStack(sp uint64, off int, stack []byte) (base, size uint64, ok bool) {
	u := &a.UContext
	base = a.Word(stack[off+u.StackBase:])
	if sp < base {
		return 0, 0, false
	}
	// ss_flags lies between base and size. Other memory hardly ever has a valid value there.
	if f := a.Order.Uint32(stack[off+u.StackBase+a.PtrSize:]); f&^ssAutodisarm > ssOnStack {
		return 0, 0, false
	}
	size = a.Word(stack[off+u.StackSize:])
	at := sp + uint64(off)
	return base, size, size <= maxAlternate && at+uint64(a.UContextEnd())-base <= size
}

// SeekAlternateStack returns the first offset, a multiple of a word behind off, at which
// AlternateStack may report a stack. If there is none, it returns an offset at which stack is too
// short for AlternateStack. Call it to go through a whole stack: it takes a tenth of the time of
// asking AlternateStack at each word, and a thread is held meanwhile. For only an address that is
// little below sp can be a stack's lowest, and nearly no word of a stack is one.
func (a *Arch) SeekAlternateStack(sp uint64, off int, stack []byte) int {
	if a.PtrSize != 8 || a.Order != binary.ByteOrder(binary.LittleEndian) {
		return off
	}
	if off+a.UContext.StackBase > len(stack) {
		return off
	}
	bases := stack[off+a.UContext.StackBase:]
	for len(bases) >= 8 && sp-binary.LittleEndian.Uint64(bases) > maxAlternate {
		off, bases = off+8, bases[8:]
	}
	return off
}
