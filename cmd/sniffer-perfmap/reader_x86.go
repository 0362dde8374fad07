package main

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/trad"
)

var readAMD64 = &reader{
	arch: amd64.Arch, step: stepAMD64, popped: poppedAMD64, twice: twiceAMD64,
	preserved: []trad.Reg{amd64.RBX, amd64.R12, amd64.R13, amd64.R14, amd64.R15},
}

// stepAMD64 implements reader.step.
func stepAMD64(code []byte, at int) step {
	p := code[at:min(len(code), at+15)]
	if n := newerSize(p); n > 0 {
		return step{size: n, target: -1}
	}
	in, err := x86asm.Decode(p, 64)
	if err != nil || in.Op == 0 || in.Len > len(p) {
		return step{}
	}
	s := step{size: in.Len, target: -1}
	if rel, ok := in.Args[0].(x86asm.Rel); ok && in.Op != x86asm.CALL {
		s.target = at + in.Len + int(rel)
	}
	switch in.Op {
	case x86asm.JMP, x86asm.LJMP, x86asm.RET, x86asm.LRET, x86asm.UD1, x86asm.UD2, x86asm.HLT, x86asm.INT:
		s.effect = leaves
	case x86asm.LEAVE:
		s.effect, s.level = loses, true
	case x86asm.ENTER:
		s.effect = sets
	case x86asm.CALL, x86asm.LCALL:
		s.effect = calls
	case x86asm.PUSH, x86asm.CMP, x86asm.TEST:
	default:
		switch {
		case in.Op == x86asm.MOV && in.Args[0] == x86asm.RBP && in.Args[1] == x86asm.RSP:
			s.effect = sets
		case in.Op == x86asm.MOV && in.Args[0] == x86asm.RSP && in.Args[1] == x86asm.RBP:
			s.level = true
		case isRBP(in.Args[0]), in.Op == x86asm.XCHG && isRBP(in.Args[1]):
			s.effect = loses
		}
	}
	return s
}

func isRBP(a x86asm.Arg) bool {
	return a == x86asm.RBP || a == x86asm.EBP || a == x86asm.BP || a == x86asm.BPB
}

// newerSize returns the length of an instruction that x86asm does not know: endbr64, and
// instructions with a VEX prefix (Intel SDM, volume 2, section 2.3); 0 for any other. Few
// instructions with a VEX prefix write general registers, and none of these writes rbp.
func newerSize(p []byte) int {
	if len(p) >= 4 && p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa {
		return 4
	}
	opmap, i := byte(1), 2 // of the opcode; where it is
	switch {
	case len(p) < 5:
		return 0
	case p[0] == 0xc4:
		opmap, i = p[1]&31, 3
	case p[0] != 0xc5:
		return 0
	}
	opcode, modrm := p[i], p[i+1]
	if opmap == 1 && opcode == 0x77 {
		return i + 1 // vzeroupper
	}
	n := i + 2
	switch mode, rm := modrm>>6, modrm&7; {
	case mode != 3 && rm == 4: // a SIB byte
		if n >= len(p) {
			return 0
		}
		n += 1 + displacement(mode, p[n]&7 == 5)
	case mode != 3:
		n += displacement(mode, rm == 5)
	}
	immediate := opcode >= 0x70 && opcode <= 0x73 || opcode == 0xc2 || opcode >= 0xc4 && opcode <= 0xc6
	if opmap == 3 || opmap == 1 && immediate {
		n++
	}
	if opmap < 1 || opmap > 3 || n > len(p) {
		return 0
	}
	return n
}

// displacement returns the bytes of displacement behind a ModRM byte of a mode other than
// 3, or its SIB byte; bare says that there is no base register in mode 0.
func displacement(mode byte, bare bool) int {
	switch {
	case mode == 1:
		return 1
	case mode == 2 || bare:
		return 4
	}
	return 0
}

// poppedAMD64 implements reader.popped. V8's functions pop their arguments: they take the
// return address into a register, drop as many words as there were arguments, and push it
// again:
//
//	pop %rcx
//	lea (%rsp,%rbx,8),%rsp    or add %rbx,%rsp
//	push %rcx
//	ret
//
// None of these restores rbp: rbp is the caller's already.
func poppedAMD64(code []byte, pc uint64) (row trad.Row, ok bool) {
	row = trad.Row{
		Lo: pc, Flags: trad.InPrologue,
		CFA: trad.Rule{Kind: trad.InReg, Reg: amd64.RSP},
		FP:  trad.Rule{Kind: trad.Same},
	}
	const (
		popping = iota
		dropping
		pushing
		returning
	)
	state, held := popping, x86asm.Arg(nil)
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:min(len(code), at+15)], 64)
		if err != nil || in.Len == 0 {
			return row, false
		}
		if at == 0 {
			row.Len = uint32(in.Len)
		}
		at += in.Len
		r, isReg := in.Args[0].(x86asm.Reg)
		switch {
		case in.Op == x86asm.POP && state == popping && isReg && r != x86asm.RSP:
			row.CFA.Off, row.RA = 8, trad.Rule{Kind: trad.Saved, Off: -8}
			state, held = dropping, r
		case (in.Op == x86asm.LEA || in.Op == x86asm.ADD) && r == x86asm.RSP && state <= dropping:
			state = pushing
		case in.Op == x86asm.PUSH && isReg && state < returning && r != x86asm.RSP && r >= x86asm.RAX && r <= x86asm.R15 && (held == nil || held == r):
			if held == nil {
				row.RA = trad.Rule{Kind: trad.InReg, Reg: pushed[r-x86asm.RAX]}
			}
			state = returning
		case in.Op == x86asm.RET && state == returning:
			return row, true
		default:
			return row, false
		}
	}
	return row, false
}

// twiceAMD64 implements reader.twice, for code that goes straight on to its return: it sets its
// return address aside and makes a frame for its caller. The row is of the caller's frame, whose
// own return address is the next on the stack.
func twiceAMD64(code []byte, start, block uint64) (row trad.Row, why string) {
	fromSP, saved, made := int32(16), false, false // of the CFA; rbp is saved below the return address; rbp points there
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:min(len(code), at+15)], 64)
		if err != nil || in.Len == 0 {
			break
		}
		if off := block - start; off < uint64(at+in.Len) {
			row = trad.Row{
				Lo: start + uint64(at), Len: uint32(in.Len), Flags: trad.InPrologue,
				CFA: trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: fromSP},
				RA:  trad.Rule{Kind: trad.Saved, Off: -8},
				FP:  trad.Rule{Kind: trad.Same},
			}
			if saved {
				row.FP = trad.Rule{Kind: trad.Saved, Off: -16}
			}
			if made {
				row.CFA = trad.Rule{Kind: trad.InReg, Reg: amd64.RBP, Off: 16}
			}
			return row, ""
		}
		at += in.Len
		switch sp := in.Args[0] == x86asm.RSP; {
		case in.Op == x86asm.PUSH:
			fromSP += 8
			saved = saved || in.Args[0] == x86asm.RBP && fromSP == 16
		case in.Op == x86asm.POP:
			fromSP -= 8
		case in.Op == x86asm.MOV && in.Args[0] == x86asm.RBP && in.Args[1] == x86asm.RSP:
			made = saved && fromSP == 16
		case in.Op == x86asm.RET, in.Op == x86asm.JMP, in.Op == x86asm.CALL, isRBP(in.Args[0]) && in.Op != x86asm.CMP,
			sp && in.Op != x86asm.CMP && in.Op != x86asm.TEST:
			return trad.Row{}, noFrame
		}
	}
	return trad.Row{}, noFrame
}

// pushed are the registers by the processor's numbers.
var pushed = [16]trad.Reg{
	amd64.RAX, amd64.RCX, amd64.RDX, amd64.RBX, amd64.RSP, amd64.RBP, amd64.RSI, amd64.RDI,
	amd64.R8, amd64.R9, amd64.R10, amd64.R11, amd64.R12, amd64.R13, amd64.R14, amd64.R15,
}
