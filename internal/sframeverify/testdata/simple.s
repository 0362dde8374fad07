# A function whose CFA DWARF does not give at first, and one as usual.
	.text
	.globl	simple, usual
	.type	simple, @function
	.type	usual, @function
simple:
	.cfi_startproc simple
	nop
	nop
	.cfi_def_cfa 7, 8
	.cfi_offset 16, -8
	ret
	.cfi_endproc
	.size	simple, . - simple
usual:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	usual, . - usual
