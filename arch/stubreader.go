package arch

import "github.com/sfwalk/sfwalk/trad"

// StubReader knows linkage stubs (PLT entries), and code that returns by other instructions than a
// return.
type StubReader struct {
	// StubFrame returns the CFA's distance from SP at pc in a linkage stub (PLT
	// entry) whose block of bytes, beginning at address start, is code.
	StubFrame func(code []byte, start, pc uint64) (fromSP int32, ok bool)
	// StubSlot returns the address of the word through which the linkage stub jumps that code, at
	// address start, begins with (its entry of the global offset table), and the stub's length in
	// bytes with its padding. ok is false where no stub begins. got is the address of the file's
	// global offset table (DT_PLTGOT), which stubs of some processors find in a register; 0 if it
	// is not known.
	StubSlot func(code []byte, start, got uint64) (slot uint64, length int, ok bool)
	// StubPath returns the CFA's distance from SP at pc in a section [lo, hi) of linkage stubs,
	// whatever their form: it follows the code to where that leaves the section. read returns the
	// code at an address, as much as the longest instruction needs. It is nil where stubs have
	// forms that StubFrame knows.
	StubPath func(lo, hi, pc uint64, read func(addr uint64) []byte) (fromSP int32, ok bool)
	// ReturnReplaced reports whether code ends with an instruction that replaces the return address
	// at SP. Then a return behind it is a jump to a function. It is nil where calls leave the
	// return address in a register.
	ReturnReplaced func(code []byte) bool
	// ThunkBegins reports whether code drops or replaces the return address of a call that ends,
	// with a loop behind it, the code before. It is nil where calls leave the return address in a
	// register.
	ThunkBegins func(before, code []byte) bool
	// Thunk tells of an instruction of such a thunk, code[at:], how many words the thunk's own call
	// has pushed there, and whether a call stands behind the thunk that leads to it, as to a
	// function. ok is false where no thunk is. It is nil where ThunkBegins is.
	Thunk func(code []byte, at int) (pushed int32, called, ok bool)
	// ReturnPushed reports whether straight code pushes a register, and whether it then returns to
	// the address in the register, as code does that changes to another stack. It is nil where
	// calls leave the return address in a register.
	ReturnPushed func(code []byte) (pushes, returns bool)
	// ReturnPopped returns the register that holds the return address, if the code before has
	// popped it there from the stack, and code only jumps to it. before returns the code before; it
	// is asked for only if code does so. ok is false otherwise. It is nil where calls leave the
	// return address in a register.
	ReturnPopped func(code []byte, before func() []byte) (by trad.Reg, ok bool)
	// EntersFunction returns the register that says where straight code jumps to, and where the
	// return address is that it leaves at SP for the function there: in a register, which it pushes
	// on the way, or at SP already. So does code that begins a coroutine. It is nil where calls
	// leave the return address in a register.
	EntersFunction func(code []byte) (to trad.Reg, ra trad.Rule, ok bool)
	Relocations    Relocations
}

// Relocations are a processor's numbers of the relocations that the dynamic linker makes of words
// of data (System V ABI, the processor's supplement).
type Relocations struct {
	JumpSlot  uint32 // the address of a function that a linkage stub jumps to
	GlobDat   uint32 // the address of a symbol
	Relative  uint32 // base address + addend, without a symbol
	IRelative uint32 // the address that the function at base address + addend returns
}
