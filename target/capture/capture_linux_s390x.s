#include "textflag.h"

// func capture(to *raw, copied unsafe.Pointer, size uintptr) uintptr
TEXT ·capture(SB), NOSPLIT|NOFRAME, $0-32
	MOVD to+0(FP), R1
	MOVD R14, 0(R1)    // PC
	MOVD R15, 8(R1)    // SP
	MOVD R6, 64(R1)    // 16 + 8 × the register's number
	MOVD R7, 72(R1)
	MOVD R8, 80(R1)
	MOVD R9, 88(R1)
	MOVD R12, 112(R1)
	MOVD g, 120(R1)    // R13
	MOVD R14, 128(R1)
	MOVD R15, 136(R1)
	MOVD R15, R2
	MOVD 8(g), R3      // g.stack.hi
	SUB  R2, R3
	MOVD R3, ret+24(FP)
	MOVD size+16(FP), R4
	CMPUBGT R3, R4, done
	MOVD copied+8(FP), R4
loop:
	CMPBEQ R3, $0, done
	MOVD 0(R2), R5
	MOVD R5, 0(R4)
	ADD  $8, R2
	ADD  $8, R4
	SUB  $8, R3
	BR   loop
done:
	RET
