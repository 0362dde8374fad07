# A signal trampoline whose return address is loaded twice, for which SFrame has no form,
# and a function.
	.text
	.globl	trampoline, function
	.type	trampoline, @function
	.type	function, @function
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa 7, 8
	.cfi_escape 0x10, 16, 5, 0x77, 0xa8, 0x01, 0x06, 0x06	# RA: DW_OP_breg7 168, deref, deref
	nop
trampoline:
	mov	$15, %eax
	syscall
	.cfi_endproc
	.size	trampoline, . - trampoline
function:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	function, . - function
