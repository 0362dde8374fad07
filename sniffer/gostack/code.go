package gostack

import "github.com/sfwalk/sfwalk/trad"

// opKind is what an instruction does to a register or a word of memory.
type opKind uint8

const (
	lose  opKind = iota // dst has a value that is not followed
	set                 // dst = src + imm; src is none: dst = imm
	setAt               // dst = the address imm
	load                // dst = the word at src + imm
	fetch               // dst = the word at address imm
	store               // the word at dst + imm = src; none: a value that is not followed
	minus               // dst = dst - src
	plus                // dst = dst + src, where src is a number
	align               // dst is rounded down, by less than a page
	own                 // dst = the thread's own word at thread pointer + src + imm; src may be none
)

// none stands for no register.
const none trad.Reg = 0xffff

// op is one effect of an instruction.
type op struct {
	kind     opKind
	dst, src trad.Reg
	imm      int64
}

// flowKind is where control goes behind an instruction.
type flowKind uint8

const (
	onward  flowKind = iota // to the next one
	branch                  // there, or to target
	jump                    // to target; 0: elsewhere
	call                    // to target and back; 0: where a register points, which may be C
	leaving                 // it returns, or never goes on
)

// instruction is what is followed of one instruction.
type instruction struct {
	size   int
	ops    []op // in the order of their effects
	flow   flowKind
	target uint64
}

func (i *instruction) add(kind opKind, dst, src trad.Reg, imm int64) {
	i.ops = append(i.ops, op{kind, dst, src, imm})
}

// machine is what must be known of a processor and of Go's conventions on it.
type machine struct {
	decode func(code []byte, pc uint64) (in instruction, ok bool)
	regs   int // registers have numbers below it
	sp, fp trad.Reg
	ra     trad.Reg   // the link register; the return address column where a call pushes it
	pushed int64      // bytes that a call pushes
	kept   []trad.Reg // by functions of C, but SP and FP; ascending
	// gosave is what the runtime's gosave_systemstack_switch changes, and save_g and load_g.
	gosave []trad.Reg
	// inTail is the register that has the return address of a function whose last
	// instructions call morestack; none where it is on the stack.
	inTail trad.Reg
	// g is the register that has the struct g of what runs; none where the thread's own
	// storage must be asked, at threadPointer.
	g, threadPointer trad.Reg
	callSize         uint64 // bytes of a direct call, where inTail is a register
	noFP             bool   // Go has no frame pointer there, and uses the register
	frames           frames
	// injects is how many bytes the runtime's sighandler pushes, with the link register at their
	// inner end, where it makes a function call another; 0 where it pushes a return address alone.
	injects int32

	rest *trad.Rest // of an ordinary function
}
