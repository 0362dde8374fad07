	.file	"wrapped.c"
	.text
	.globl	quick
	.type	quick, @function
quick:
.LFB0:
	.cfi_startproc
	testq	%rdi, %rdi
	je	.L8
	leaq	-56(%rsp), %rsp
	.cfi_def_cfa_offset 64
	movq	%rbp, 16(%rsp)
	movq	%r14, 40(%rsp)
	.cfi_offset 6, -48
	.cfi_offset 14, -24
	movq	%rdi, %r14
	movl	%esi, %ebp
	movq	limit@GOTPCREL(%rip), %rax
	cmpl	%esi, (%rax)
	jge	.L3
	movq	%rbx, 8(%rsp)
	movq	%r12, 24(%rsp)
	movq	%r13, 32(%rsp)
	movq	%r15, 48(%rsp)
	movl	%esi, %edi
	movl	$0, %eax
	.cfi_offset 3, -56
	.cfi_offset 12, -40
	.cfi_offset 13, -32
	.cfi_offset 15, -16
	call	use@PLT
	movl	%eax, %r12d
	movl	%eax, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %ebx
	movl	%r12d, %esi
	movl	%eax, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %r13d
	movl	%ebp, %ecx
	movl	%eax, %edx
	movl	%ebx, %esi
	movl	%r12d, %edi
	movl	$0, %eax
	call	use@PLT
	leal	(%r12,%rbx), %eax
	cmpl	%r13d, %eax
	je	.L4
	testl	%ebp, %ebp
	jg	.L5
.L6:
	leal	(%rbx,%r12), %eax
	addl	%r13d, %eax
	movq	8(%rsp), %rbx
	.cfi_restore 3
	movq	24(%rsp), %r12
	.cfi_restore 12
	movq	32(%rsp), %r13
	.cfi_restore 13
	movq	48(%rsp), %r15
	.cfi_restore 15
.L1:
	movq	16(%rsp), %rbp
	movq	40(%rsp), %r14
	leaq	56(%rsp), %rsp
	.cfi_restore 14
	.cfi_restore 6
	.cfi_def_cfa_offset 8
	ret
.L4:
	.cfi_def_cfa_offset 64
	.cfi_offset 3, -56
	.cfi_offset 6, -48
	.cfi_offset 12, -40
	.cfi_offset 13, -32
	.cfi_offset 14, -24
	.cfi_offset 15, -16
	movl	%r12d, %edi
	call	fail@PLT
.L5:
	movslq	%ebp, %r15
	movl	$0, %ebp
.L7:
	movl	(%r14,%rbp,4), %ecx
	movl	%ebp, %edx
	movl	%r13d, %esi
	movl	%ebx, %edi
	movl	$0, %eax
	call	use@PLT
	addl	%eax, %r12d
	addq	$1, %rbp
	cmpq	%r15, %rbp
	jne	.L7
	jmp	.L6
.L3:
	.cfi_restore 3
	.cfi_restore 12
	.cfi_restore 13
	.cfi_restore 15
	movslq	%esi, %rbp
	movl	(%rdi,%rbp,4), %eax
	jmp	.L1
.L8:
	.cfi_def_cfa_offset 8
	.cfi_restore 6
	.cfi_restore 14
	movl	$-1, %eax
	ret
	.cfi_endproc
.LFE0:
	.size	quick, .-quick
	.globl	ends
	.type	ends, @function
ends:
.LFB1:
	.cfi_startproc
	leaq	-40(%rsp), %rsp
	.cfi_def_cfa_offset 48
	movq	%rbx, 8(%rsp)
	movq	%r12, 24(%rsp)
	movq	%r13, 32(%rsp)
	.cfi_offset 3, -40
	.cfi_offset 12, -24
	.cfi_offset 13, -16
	movq	%rdi, %r13
	movl	%esi, %r12d
	movl	%esi, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %ebx
	andl	$15, %eax
	cmpl	$0, 0(%r13,%rax,4)
	je	.L15
	movq	%rbp, 16(%rsp)
	.cfi_offset 6, -32
.L20:
	movl	%r12d, %esi
	movl	%ebx, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %ebp
	testl	%eax, %eax
	jns	.L16
	movl	%eax, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %ebx
	movl	%eax, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %r13d
	movl	%ebp, %edx
	movl	%ebx, %esi
	movl	%eax, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %r12d
	testl	%ebx, %ebx
	je	.L17
.L18:
	movl	%ebp, %edx
	movl	%r12d, %esi
	movl	%r13d, %edi
	movl	$0, %eax
	call	use@PLT
	addl	%eax, %r12d
	subl	$1, %ebx
	jne	.L18
.L17:
	leal	0(%r13,%r12), %edi
	addl	%ebp, %edi
	call	fail@PLT
.L16:
	cmpl	$7, %eax
	je	.L24
	addl	%eax, %ebx
	movl	%ebx, %eax
	andl	$15, %eax
	cmpl	$0, 0(%r13,%rax,4)
	jne	.L20
	movq	16(%rsp), %rbp
	.cfi_restore 6
.L15:
	addl	%r12d, %ebx
.L14:
	movl	%ebx, %eax
	movq	8(%rsp), %rbx
	movq	24(%rsp), %r12
	movq	32(%rsp), %r13
	leaq	40(%rsp), %rsp
	.cfi_def_cfa_offset 8
	ret
.L24:
	.cfi_def_cfa_offset 48
	.cfi_offset 6, -32
	movq	16(%rsp), %rbp
	.cfi_restore 6
	jmp	.L14
	.cfi_endproc
.LFE1:
	.size	ends, .-ends
	.globl	loops
	.type	loops, @function
loops:
.LFB2:
	.cfi_startproc
	leaq	-72(%rsp), %rsp
	.cfi_def_cfa_offset 80
	movq	%rbp, 32(%rsp)
	movq	%r13, 48(%rsp)
	.cfi_offset 6, -48
	.cfi_offset 13, -32
	movl	%edi, %ebp
	movslq	%edi, %rdx
	movq	table@GOTPCREL(%rip), %rax
	movq	(%rax), %rax
	movl	(%rax,%rdx,4), %r13d
	cmpl	$1, %r13d
	jne	.L26
	movl	$1, %edi
	movl	$0, %eax
	call	use@PLT
.L27:
	movslq	%r13d, %r13
	movq	table@GOTPCREL(%rip), %rax
	movq	(%rax), %rax
	addl	(%rax,%r13,4), %ebp
	movl	%ebp, %eax
	movq	32(%rsp), %rbp
	movq	48(%rsp), %r13
	leaq	72(%rsp), %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
.L26:
	.cfi_restore_state
	movq	%r15, 64(%rsp)
	.cfi_offset 15, -16
	movq	%rsi, %r15
	cmpl	$2, %r13d
	jle	.L32
	movq	%rbx, 24(%rsp)
	movq	%r12, 40(%rsp)
	movq	%r14, 56(%rsp)
	movslq	%r13d, %rax
	movq	%rax, 8(%rsp)
	.cfi_offset 3, -56
	.cfi_offset 12, -40
	.cfi_offset 14, -24
	movl	$0, %r14d
.L29:
	movl	(%r15,%r14,4), %edi
	movl	%ebp, %esi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %r12d
	movl	%r14d, 4(%rsp)
	movl	%r14d, %esi
	movl	%eax, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %ebx
	movl	%ebp, %ecx
	movl	4(%rsp), %edx
	movl	%r12d, %esi
	movl	%eax, %edi
	movl	$0, %eax
	call	use@PLT
	cmpl	$3, %eax
	jne	.L28
	leal	(%r12,%rbx), %edi
	call	fail@PLT
.L28:
	imull	%r12d, %ebx
	addl	%eax, %ebx
	movl	%ebx, (%r15,%r14,4)
	addq	$1, %r14
	movq	8(%rsp), %rax
	cmpq	%rax, %r14
	jne	.L29
	movl	(%r15), %edi
	movl	$0, %eax
	call	use@PLT
	testl	%eax, %eax
	je	.L33
	movl	%r13d, %edi
	call	fail@PLT
.L32:
	.cfi_restore 3
	.cfi_restore 12
	.cfi_restore 14
	movq	64(%rsp), %r15
	.cfi_restore 15
	jmp	.L27
.L33:
	.cfi_offset 3, -56
	.cfi_offset 12, -40
	.cfi_offset 14, -24
	.cfi_offset 15, -16
	movq	24(%rsp), %rbx
	.cfi_restore 3
	movq	40(%rsp), %r12
	.cfi_restore 12
	movq	56(%rsp), %r14
	.cfi_restore 14
	movq	64(%rsp), %r15
	.cfi_restore 15
	jmp	.L27
	.cfi_endproc
.LFE2:
	.size	loops, .-loops
	.globl	again
	.type	again, @function
again:
.LFB3:
	.cfi_startproc
	leaq	-72(%rsp), %rsp
	.cfi_def_cfa_offset 80
	movq	%r13, 48(%rsp)
	movq	%r15, 64(%rsp)
	.cfi_offset 13, -32
	.cfi_offset 15, -16
	movl	%edi, %r13d
	movq	%rsi, (%rsp)
	movq	table@GOTPCREL(%rip), %rax
	movq	(%rax), %rax
	movslq	%edi, %rdx
	movl	(%rax,%rdx,4), %r15d
	cmpl	$10, %r15d
	jne	.L35
	cmpl	$0, 12(%rax)
	jne	.L36
	movl	$10, %esi
	movl	$0, %eax
	call	use@PLT
.L34:
	movq	48(%rsp), %r13
	movq	64(%rsp), %r15
	leaq	72(%rsp), %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
.L36:
	.cfi_restore_state
	movq	%rbx, 24(%rsp)
	movq	%rbp, 32(%rsp)
	movq	%r12, 40(%rsp)
	movq	%r14, 56(%rsp)
	movl	16(%rax), %r13d
	.cfi_offset 3, -56
	.cfi_offset 6, -48
	.cfi_offset 12, -40
	.cfi_offset 14, -24
.L38:
	movl	%r15d, %esi
	movl	%r13d, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %ebx
	movl	%eax, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %ebp
	movl	%ebx, %esi
	movl	%eax, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %r12d
	testl	%eax, %eax
	jle	.L39
	cltq
	movq	%rax, 8(%rsp)
	movl	$0, %r14d
.L40:
	movq	(%rsp), %rax
	movl	(%rax,%r14,4), %r8d
	movl	%r14d, %ecx
	movl	%r12d, %edx
	movl	%ebp, %esi
	movl	%ebx, %edi
	movl	$0, %eax
	call	use@PLT
	addl	%eax, %ebx
	addq	$1, %r14
	cmpq	%r14, 8(%rsp)
	jne	.L40
.L39:
	movl	%ebp, %esi
	movl	%ebx, %edi
	movl	$0, %eax
	call	use@PLT
	cmpl	$3, %eax
	jne	.L41
	movl	%r12d, %edi
	call	fail@PLT
.L35:
	.cfi_restore 3
	.cfi_restore 6
	.cfi_restore 12
	.cfi_restore 14
	cmpq	$0, (%rsp)
	jne	.L45
	movl	%r15d, %edi
	movl	$0, %eax
	call	use@PLT
	jmp	.L34
.L45:
	movq	%rbx, 24(%rsp)
	movq	%rbp, 32(%rsp)
	movq	%r12, 40(%rsp)
	movq	%r14, 56(%rsp)
	.cfi_offset 3, -56
	.cfi_offset 6, -48
	.cfi_offset 12, -40
	.cfi_offset 14, -24
	jmp	.L38
.L41:
	movq	limit@GOTPCREL(%rip), %rax
	cmpl	$0, (%rax)
	jne	.L42
	movl	%ebx, %edi
	call	fail@PLT
.L42:
	movslq	%ebx, %rdx
	movq	table@GOTPCREL(%rip), %rax
	movq	(%rax), %rax
	movl	%ebp, (%rax,%rdx,4)
	movl	%r15d, %r8d
	movl	%r13d, %ecx
	movl	%r12d, %edx
	movl	%ebp, %esi
	movl	%ebx, %edi
	movl	$0, %eax
	call	use@PLT
	movq	24(%rsp), %rbx
	.cfi_restore 3
	movq	32(%rsp), %rbp
	.cfi_restore 6
	movq	40(%rsp), %r12
	.cfi_restore 12
	movq	56(%rsp), %r14
	.cfi_restore 14
	jmp	.L34
	.cfi_endproc
.LFE3:
	.size	again, .-again
	.globl	jumps
	.type	jumps, @function
jumps:
.LFB4:
	.cfi_startproc
	leaq	-72(%rsp), %rsp
	.cfi_def_cfa_offset 80
	movq	%r14, 56(%rsp)
	movq	%r15, 64(%rsp)
	.cfi_offset 14, -24
	.cfi_offset 15, -16
	movq	%rsi, %r14
	movq	table@GOTPCREL(%rip), %rax
	movq	(%rax), %rax
	movslq	%edi, %rcx
	movl	(%rax,%rcx,4), %r15d
	cmpl	$10, %r15d
	jne	.L47
	cmpl	$0, 12(%rax)
	je	.L48
	cmpl	$0, 20(%rax)
	je	.L48
	movl	16(%rax), %edx
.L49:
	cmpl	$40, %edx
	je	.L48
	movl	%edx, %edi
	movl	$0, %eax
	call	use@PLT
	jmp	.L46
.L47:
	testq	%rsi, %rsi
	je	.L49
.L48:
	movq	%rbx, 24(%rsp)
	movq	%rbp, 32(%rsp)
	movq	%r12, 40(%rsp)
	movq	%r13, 48(%rsp)
	movl	24(%rax), %eax
	movl	%eax, 4(%rsp)
	movl	%r15d, %esi
	movl	$0, %eax
	.cfi_offset 3, -56
	.cfi_offset 6, -48
	.cfi_offset 12, -40
	.cfi_offset 13, -32
	call	use@PLT
	movl	%eax, %ebx
	movl	%eax, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %r12d
	movl	%ebx, %esi
	movl	%eax, %edi
	movl	$0, %eax
	call	use@PLT
	movl	%eax, %ebp
	testl	%eax, %eax
	jle	.L50
	cltq
	movq	%rax, 8(%rsp)
	movl	$0, %r13d
.L51:
	movl	(%r14,%r13,4), %r8d
	movl	%r13d, %ecx
	movl	%ebp, %edx
	movl	%r12d, %esi
	movl	%ebx, %edi
	movl	$0, %eax
	call	use@PLT
	addl	%eax, %ebx
	addq	$1, %r13
	cmpq	%r13, 8(%rsp)
	jne	.L51
.L50:
	movl	%r12d, %esi
	movl	%ebx, %edi
	movl	$0, %eax
	call	use@PLT
	cmpl	$3, %eax
	jne	.L52
	movl	%ebp, %esi
	movl	%r12d, %edi
	movl	$0, %eax
	call	use@PLT
	addl	%ebx, %eax
	movq	24(%rsp), %rbx
	.cfi_restore 3
	movq	32(%rsp), %rbp
	.cfi_restore 6
	movq	40(%rsp), %r12
	.cfi_restore 12
	movq	48(%rsp), %r13
	.cfi_restore 13
.L46:
	movq	56(%rsp), %r14
	movq	64(%rsp), %r15
	leaq	72(%rsp), %rsp
	.cfi_def_cfa_offset 8
	ret
.L52:
	.cfi_def_cfa_offset 80
	.cfi_offset 3, -56
	.cfi_offset 6, -48
	.cfi_offset 12, -40
	.cfi_offset 13, -32
	movl	%r15d, %esi
	movl	%ebp, %edi
	movl	$0, %eax
	call	use@PLT
	movl	4(%rsp), %edi
	addl	%ebx, %edi
	call	fail@PLT
	.cfi_endproc
.LFE4:
	.size	jumps, .-jumps
	.ident	"GCC: (Debian 16.2.0-3) 16.2.0"
	.section	.note.GNU-stack,"",@progbits
