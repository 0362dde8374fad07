package amd64

import (
	"bytes"

	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// sbclReach is how far from the instruction that makes a frame the call is that hands it over, in
// bytes of code.
const sbclReach = 40

// sbclMoment implements arch.LanguageRules.SBCL. A function begins with pop [rbp+8]. It ends with
// pop rbp or leave, and a return, which clc or stc may precede, or it pushes the return address
// again, and returns, or jumps there. A caller stores its frame pointer
// in the callee's frame, moves the address of that to rbp, and calls.
func sbclMoment(code []byte, at int) arch.SBCLMoment {
	rest := code[at:]
	for _, c := range []struct {
		text   string
		moment arch.SBCLMoment
	}{
		{"\x8f\x45\x08", arch.SBCLEntered}, {"\xc3", arch.SBCLLeft}, {"\xf8\xc3", arch.SBCLLeft}, {"\xf9\xc3", arch.SBCLLeft}, {"\xc2", arch.SBCLLeft},
		{"\xff\x73\xf8\xc3", arch.SBCLReturns}, // push [rbx-8]; ret
		{"\xff\x63\xf8", arch.SBCLReturns},     // jmp [rbx-8]
	} {
		if bytes.HasPrefix(rest, []byte(c.text)) {
			return c.moment
		}
	}
	for n := 3; n <= sbclReach && n <= at; n++ {
		// mov rbp, any register: 48 or 49, 8b, e8 to ef
		if c := code[at-n:]; c[0]&^1 == 0x48 && c[1] == 0x8b && c[2]&0xf8 == 0xe8 && sbclCalls(c[3:], n-3) {
			return arch.SBCLCalls
		}
	}
	return arch.SBCLRuns
}

// sbclCalls reports whether code leads to a call, through the instruction at offset at or up to
// there. Where a symbol may be called in place of a function, it branches to one of two calls.
func sbclCalls(code []byte, at int) bool {
	through, branch := false, -1
	for pos := 0; pos < len(code) && pos <= 2*sbclReach; {
		in, err := x86asm.Decode(code[pos:min(len(code), pos+16)], 64)
		if err != nil || pos > at && !through {
			return false
		}
		through = through || pos == at
		next := pos + in.Len
		jump, relative := in.Args[0].(x86asm.Rel)
		switch {
		case in.Op == x86asm.CALL && through:
			return true
		case in.Op == x86asm.CALL && branch == at:
			call, err := x86asm.Decode(code[at:min(len(code), at+16)], 64)
			return err == nil && call.Op == x86asm.CALL
		case in.Op == x86asm.CALL, in.Op == x86asm.JMP, in.Op == x86asm.RET, in.Op == x86asm.INT, in.Op == x86asm.UD2:
			return false
		case relative && branch >= 0 || relative && jump < 0:
			return false
		case relative:
			branch = next + int(jump)
		}
		pos = next
	}
	return false
}

// sbclGate implements arch.SBCLGate.Begins: push rbp; mov rbp, rsp; push rbx, r12, r13, r14, r15.
func sbclGate(code []byte) bool {
	return bytes.HasPrefix(code, []byte("\x55\x48\x89\xe5\x53\x41\x54\x41\x55\x41\x56\x41\x57"))
}

// sbclMoves implements arch.SBCLValues.Moves: from mov rbp, [rbp] on to a return, before which the
// return address is pushed, or a jump to it.
func sbclMoves(code []byte, at int) (ra trad.Reg, ok bool) {
	begin := bytes.Index(code, []byte("\x48\x8b\x6d\x00"))
	if begin < 0 || at < begin+4 {
		return 0, false
	}
	rest, first := code[begin+4:], len(code)
	for _, c := range []struct {
		end string
		ra  trad.Reg
	}{{"\x50\xc3", RAX}, {"\xff\xe0", RAX}, {"\x41\xff\xe2", R10}} { // push rax, ret; jmp rax; jmp r10
		if i := bytes.Index(rest, []byte(c.end)); i >= 0 && i < first {
			ra, first = c.ra, i
		}
	}
	return ra, at <= begin+4+first && first < len(code)
}
