/* The three forms that Linux gives the vDSO's __kernel_vsyscall (arch/x86/entry/vdso/vdso32/system_call.S), by the kind of
   the processor: Intel's, AMD's below a 64-bit kernel, and those that have neither instruction. */
	.macro form name, move, enter
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	push %ecx
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset ecx, 0
	push %edx
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset edx, 0
	push %ebp
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset ebp, 0
	\move
	\enter
	int $0x80
	pop %ebp
	.cfi_restore ebp
	.cfi_adjust_cfa_offset -4
	pop %edx
	.cfi_restore edx
	.cfi_adjust_cfa_offset -4
	pop %ecx
	.cfi_restore ecx
	.cfi_adjust_cfa_offset -4
	ret
	.cfi_endproc
	.size \name, . - \name
	.endm

	.text
	form by_sysenter, "mov %esp, %ebp", sysenter
	form by_syscall, "mov %ecx, %ebp", syscall
	form by_int, ".byte 0x66, 0x90", ".byte 0x66, 0x90" /* xchg %ax,%ax, with which the kernel pads */
