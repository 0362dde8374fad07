#include "textflag.h"

// func capture(to *raw, copied unsafe.Pointer, size uintptr) uintptr
TEXT ·capture(SB), NOSPLIT|NOFRAME, $0-32
	MOVD to+0(FP), R0
	MOVD R30, 0(R0)    // PC
	MOVD RSP, R1
	MOVD R1, 8(R0)     // SP
	MOVD R19, 168(R0)  // 16 + 8 × the register's number
	MOVD R20, 176(R0)
	MOVD R21, 184(R0)
	MOVD R22, 192(R0)
	MOVD R23, 200(R0)
	MOVD R24, 208(R0)
	MOVD R25, 216(R0)
	MOVD R26, 224(R0)
	MOVD R27, 232(R0)
	MOVD g, 240(R0)    // R28
	MOVD R29, 248(R0)
	MOVD R30, 256(R0)
	MOVD 8(g), R2      // g.stack.hi
	SUB  R1, R2, R2
	MOVD R2, ret+24(FP)
	MOVD size+16(FP), R3
	CMP  R3, R2
	BHI  done
	MOVD copied+8(FP), R3
loop:
	CBZ  R2, done
	MOVD.P 8(R1), R4
	MOVD.P R4, 8(R3)
	SUB  $8, R2, R2
	B    loop
done:
	RET
