#include "textflag.h"

// func stub()
TEXT ·stub(SB), NOSPLIT|NOFRAME, $0
	CALL ·relay(SB)
	INT $3

// func relay()
TEXT ·relay(SB), NOSPLIT|NOFRAME, $0
	MOVQ 8(SP), R10 // where to return
	ADDQ $8, SP     // the stub's own return address is of no use
	SUBQ $32, SP
	MOVQ $0, 32(SP) // where the return address was
	MOVQ BX, 24(SP)
	PUSHQ R10
	PUSHQ BP
	MOVQ SP, BP
	CALL ·inner(SB)
	POPQ BP
	POPQ R10
	MOVQ 24(SP), BX
	ADDQ $32, SP
	MOVQ R10, 0(SP)
	RET
