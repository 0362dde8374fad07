package minidump

import (
	"fmt"
	"strings"
	"sync"
)

// Register is a register of a thread.
type Register struct {
	Name  string // as gdb has it
	Value uint64
	Bits  int // width: 64, or less
}

// layout is where a processor's registers are in its context (CONTEXT of winnt.h, MDRawContext… of
// Breakpad).
type layout struct {
	flagsAt int    // of the 4 bytes that say which processor it is, and what is valid
	cpu     uint32 // the processor's bit, or the bits of several writers
	groups  []group
}

// group are registers that follow one another.
type group struct {
	flag  uint32 // they are valid if the context has it
	at    int    // of the first one, bytes
	size  int    // of a register, bytes: 2, 4 or 8
	every int    // bytes from one to the next
	names []string
}

// Flags of most processors. Of others, one flag stands for all.
const (
	control  = 1 << 0
	integer  = 1 << 1
	segment  = 1 << 2
	floating = 1 << 2 // arm64
	always   = 0

	// anyGroup are the bits of all groups. The processor's bit lies above them.
	anyGroup = 1<<16 - 1
)

// fields makes a group of registers without gaps.
func fields(flag uint32, at, size int, names ...string) group {
	return group{flag, at, size, size, names}
}

// numbered returns the names prefix+first to prefix+last.
func numbered(prefix string, first, last int) (names []string) {
	for i := first; i <= last; i++ {
		names = append(names, fmt.Sprint(prefix, i))
	}
	return names
}

func words(text string) []string { return strings.Fields(text) }

const riscvNames = "pc ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"

var layouts = sync.OnceValue(func() map[Processor]layout {
	layouts := map[Processor]layout{
		X86: {0, 1 << 16, []group{
			fields(control, 180, 4, words("ebp eip cs eflags esp ss")...),
			fields(integer, 156, 4, words("edi esi ebx edx ecx eax")...),
			fields(segment, 140, 4, words("gs fs es ds")...),
		}},
		AMD64: {48, 1 << 20, []group{
			fields(control, 56, 2, "cs"), fields(control, 66, 2, "ss"), fields(control, 68, 4, "eflags"), fields(control, 152, 8, "rsp"), fields(control, 248, 8, "rip"),
			fields(integer, 120, 8, words("rax rcx rdx rbx")...), fields(integer, 160, 8, words("rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15")...),
			fields(segment, 58, 2, words("ds es fs gs")...),
		}},
		ARM: {0, 1<<30 | 1<<21, []group{ // Breakpad's, and Windows'
			fields(always, 4, 4, append(numbered("r", 0, 12), words("sp lr pc cpsr")...)...),
		}},
		ARM64: {0, 1 << 22, []group{
			fields(control, 4, 4, "cpsr"), fields(control, 240, 8, words("x29 x30 sp pc")...),
			fields(integer, 8, 8, numbered("x", 0, 28)...),
			{floating, 272 + 16*8, 8, 16, numbered("d", 8, 15)},
		}},
		ARM64Old: {0, 1 << 31, []group{
			fields(always, 8, 8, append(numbered("x", 0, 30), "sp", "pc")...), fields(always, 272, 4, "cpsr"),
			{floating, 284 + 16*8, 8, 16, numbered("d", 8, 15)},
		}},
		MIPS: {0, 1 << 18, []group{
			fields(always, 8, 8, words("zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 t3 t4 t5 t6 t7 s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 gp sp s8 ra hi lo")...),
			fields(always, 312, 8, "pc", "bad"), fields(always, 328, 4, "status", "cause"),
		}},
		PPC: {0, 1 << 29, []group{
			fields(always, 4, 4, append(append(words("pc msr"), numbered("r", 0, 31)...), words("cr xer lr ctr mq vrsave")...)...),
		}},
		PPC64: {0, 1 << 24, []group{
			fields(always, 8, 8, append(append(words("pc msr"), numbered("r", 0, 31)...), words("cr xer lr ctr vrsave")...)...),
		}},
		SPARC: {0, 1 << 28, []group{
			fields(always, 8, 8, words("g0 g1 g2 g3 g4 g5 g6 g7 o0 o1 o2 o3 o4 o5 sp o7 l0 l1 l2 l3 l4 l5 l6 l7 i0 i1 i2 i3 i4 i5 fp i7 ccr pc npc y asi fprs")...),
		}},
		RISCV:   {0, 1 << 23, []group{fields(always, 8, 4, words(riscvNames)...)}},
		RISCV64: {0, 1 << 27, []group{fields(always, 8, 8, words(riscvNames)...)}},
	}
	layouts[X86Win64] = layouts[X86]
	mips := layouts[MIPS]
	mips.cpu = 1 << 19
	layouts[MIPS64] = mips
	return layouts
})

const maxContext = 1 << 16 // bytes; with extended state, real ones have some thousand

// Registers returns the registers at a part of the file, a context, such as [File.ContextOf]
// returns. The error says why they cannot be read: the processor is not known, or the context is
// cut short.
func (f *File) Registers(context Location) ([]Register, error) {
	l, ok := layouts()[f.System.Processor]
	if !f.System.Known || !ok {
		return nil, fmt.Errorf("the registers of processor %v are not known", f.System.Processor)
	}
	if context.Size == 0 {
		return nil, fmt.Errorf("the dump has no registers of the thread")
	}
	if context.Size > maxContext {
		return nil, fmt.Errorf("a context of %d bytes: more than %d", context.Size, maxContext)
	}
	b := make([]byte, context.Size)
	if n, err := f.r.r.ReadAt(b, int64(context.Offset)); n < len(b) {
		return nil, fmt.Errorf("registers at offset %#x: %w", context.Offset, err)
	}
	if len(b) < l.flagsAt+4 {
		return nil, errShort
	}
	flags := f.Order.Uint32(b[l.flagsAt:])
	if f.System.Processor == PPC64 { // 8 bytes
		flags |= f.Order.Uint32(b[4:])
	}
	if flags&l.cpu == 0 {
		return nil, fmt.Errorf("context flags %#x: not the flags of processor %v", flags, f.System.Processor)
	}
	// Breakpad's client on Macs with Intel's processors names the processor alone, and fills in
	// all.
	if flags&anyGroup == 0 {
		flags |= anyGroup
	}
	var list []Register
	for _, g := range l.groups {
		if flags&g.flag != g.flag || g.at+g.every*(len(g.names)-1)+g.size > len(b) {
			continue
		}
		for i, name := range g.names {
			r := Register{Name: name, Bits: 8 * g.size}
			switch at := b[g.at+i*g.every:]; g.size {
			case 2:
				r.Value = uint64(f.Order.Uint16(at))
			case 4:
				r.Value = uint64(f.Order.Uint32(at))
			default:
				r.Value = f.Order.Uint64(at)
			}
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("context flags %#x of %d bytes: it has no registers", flags, len(b))
	}
	return list, nil
}
