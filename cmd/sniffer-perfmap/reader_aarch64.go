package main

import (
	"golang.org/x/arch/arm64/arm64asm"

	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/trad"
)

var readARM64 = &reader{
	arch: arm64.Arch, step: stepARM64,
	popped:    func([]byte, uint64) (trad.Row, bool) { return trad.Row{}, false },                 // ReadEpilogue follows x30
	preserved: []trad.Reg{19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 72, 73, 74, 75, 76, 77, 78, 79}, // x19 to x28, d8 to d15
}

// stepARM64 implements reader.step.
func stepARM64(code []byte, at int) step {
	if len(code)-at < 4 {
		return step{}
	}
	s := step{size: 4, target: -1}
	in, err := arm64asm.Decode(code[at:])
	if err != nil {
		return s // data, or an instruction of an extension: they write no general registers
	}
	for _, a := range in.Args {
		if rel, ok := a.(arm64asm.PCRel); ok && in.Op != arm64asm.BL && in.Op != arm64asm.ADR && in.Op != arm64asm.ADRP {
			s.target = at + int(rel)
		}
	}
	_, conditional := in.Args[0].(arm64asm.Cond)
	switch in.Op {
	case arm64asm.RET, arm64asm.BR, arm64asm.BRK, arm64asm.HLT:
		s.effect = leaves
	case arm64asm.B:
		if !conditional {
			s.effect = leaves
		}
	case arm64asm.BL, arm64asm.BLR:
		s.effect = calls
	case arm64asm.STP, arm64asm.STR, arm64asm.STUR, arm64asm.CMP, arm64asm.CMN, arm64asm.TST, arm64asm.CBZ, arm64asm.CBNZ, arm64asm.TBZ, arm64asm.TBNZ:
	default:
		switch {
		case in.Args[0] == arm64asm.RegSP(arm64asm.SP) && (in.Op == arm64asm.MOV || in.Op == arm64asm.ADD || in.Op == arm64asm.SUB) && isX29(in.Args[1]):
			s.level = true
		case isX29(in.Args[0]) && (in.Op == arm64asm.MOV || in.Op == arm64asm.ADD) && in.Args[1] == arm64asm.RegSP(arm64asm.SP):
			s.effect = sets
		case isX29(in.Args[0]), in.Op == arm64asm.LDP && isX29(in.Args[1]):
			s.effect = loses
		}
	}
	return s
}

func isX29(a arm64asm.Arg) bool {
	return a == arm64asm.X29 || a == arm64asm.W29 || a == arm64asm.RegSP(arm64asm.X29)
}
