#include "textflag.h"

// func enter(code, function, context, stack uintptr)
TEXT ·enter(SB), NOSPLIT|NOFRAME, $0-32
	MOVQ code+0(FP), R11
	MOVQ function+8(FP), R14
	MOVQ context+16(FP), AX
	MOVQ stack+24(FP), R13
	JMP R11
