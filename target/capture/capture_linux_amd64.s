#include "textflag.h"

// func capture(to *raw, copied unsafe.Pointer, size uintptr) uintptr
TEXT ·capture(SB), NOSPLIT|NOFRAME, $0-32
	MOVQ to+0(FP), AX
	MOVQ 0(SP), CX
	MOVQ CX, 0(AX)    // PC
	LEAQ 8(SP), CX
	MOVQ CX, 8(AX)    // SP
	MOVQ BX, 40(AX)   // 16 + 8 × DWARF's number: rbx 3, rbp 6, r12 to r15
	MOVQ BP, 64(AX)
	MOVQ R12, 112(AX)
	MOVQ R13, 120(AX)
	MOVQ R14, 128(AX)
	MOVQ R15, 136(AX)
	MOVQ (TLS), DX    // g
	MOVQ 8(DX), DX    // g.stack.hi
	SUBQ CX, DX
	MOVQ DX, ret+24(FP)
	CMPQ DX, size+16(FP)
	JHI  done
	MOVQ CX, SI
	MOVQ copied+8(FP), DI
	MOVQ DX, CX
	SHRQ $3, CX
	CLD
	REP; MOVSQ
done:
	RET
