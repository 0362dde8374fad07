# main has a call of f inlined. The parameter of f's abstract instance stands in a block without addresses,
# as rustc 1.75 writes it for functions that a macro makes; that of g's in a block with addresses.
	.text
	.globl main
	.type main, @function
	.file 1 "block.c"
main:	.loc 1 6
	nop
.Lf:	.loc 1 2
	nop
	nop
.Lg:	.loc 1 4
	nop
	nop
.Lend:	.loc 1 9
	ret
.Lmain_end:
	.size main, .-main
	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11; .byte 1; .uleb128 0x13, 0x0b, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0x10, 0x17, 0, 0
	.uleb128 2, 0x2e; .byte 1; .uleb128 0x03, 0x08, 0x20, 0x0b, 0, 0
	.uleb128 3, 0x0b; .byte 1; .uleb128 0, 0
	.uleb128 4, 0x05; .byte 0; .uleb128 0x03, 0x08, 0x49, 0x13, 0, 0
	.uleb128 5, 0x2e; .byte 1; .uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
	.uleb128 6, 0x1d; .byte 1; .uleb128 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x58, 0x0b, 0x59, 0x0b, 0, 0
	.uleb128 7, 0x0b; .byte 1; .uleb128 0x11, 0x01, 0x12, 0x07, 0, 0
	.uleb128 8, 0x24; .byte 0; .uleb128 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0
	.byte 0
	.section .debug_info,"",@progbits
.Lcu:	.long .Lcu_end-.Lcu-4
	.short 4
	.long 0
	.byte 8
	.uleb128 1; .byte 0x0c; .string "block.c"; .quad main; .quad .Lmain_end-main; .long .Lline
.Lint:	.uleb128 8; .string "int"; .byte 5, 4
.Labs:	.uleb128 2; .string "f"; .byte 1
	.uleb128 3
	.uleb128 4; .string "x"; .long .Lint-.Lcu
	.byte 0
	.byte 0
.Labs2:	.uleb128 2; .string "g"; .byte 1
	.uleb128 7; .quad .Lg; .quad .Lend-.Lg
	.uleb128 4; .string "x"; .long .Lint-.Lcu
	.byte 0
	.byte 0
	.uleb128 5; .string "main"; .quad main; .quad .Lmain_end-main
	.uleb128 6; .long .Labs-.Lcu; .quad .Lf; .quad .Lg-.Lf; .byte 1, 7
	.byte 0
	.uleb128 6; .long .Labs2-.Lcu; .quad .Lg; .quad .Lend-.Lg; .byte 1, 8
	.byte 0
	.byte 0
	.byte 0
.Lcu_end:
	.section .debug_line,"",@progbits
.Lline:
	.section .note.GNU-stack,"",@progbits
