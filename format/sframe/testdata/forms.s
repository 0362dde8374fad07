/* Forms that a compiler does not write. Of the code only its size matters. */
	.text
	.globl	trampoline, first, wide
	.type	trampoline, %function
	.type	first, %function
	.type	wide, %function

	.cfi_startproc			/* a signal frame */
	.cfi_signal_frame
trampoline:
	.zero	12
	.cfi_endproc
	.size	trampoline, . - trampoline

	.cfi_startproc			/* an outermost frame */
	.cfi_undefined RA
first:
	.zero	8
	.cfi_endproc
	.size	first, . - first

	.cfi_startproc			/* 4-byte start offsets */
wide:
	.zero	70000
	.cfi_adjust_cfa_offset 256
	.zero	1000
	.cfi_adjust_cfa_offset 1024
	.zero	8
	.cfi_endproc
	.size	wide, . - wide
