# Several rows of the line table at one address: rows of another file and of the same, rows that begin a
# statement and rows that do not, rows without a line, and rows that repeat a line with a discriminator.
	.text
	.globl main
	.type main, @function
	.file 1 "lines.c"
	.file 2 "other.h"
main:	.loc 1 1
	nop
	nop
	# The row that begins the statement repeats the one before.
	.loc 1 1 0 is_stmt 1 discriminator 1
	.loc 2 2 0 is_stmt 0
	nop
	nop
	.loc 1 3 0 is_stmt 1
	.loc 2 4 0 is_stmt 0
	nop
	nop
	.loc 1 5 0 is_stmt 1
	.loc 1 6 0 is_stmt 0
	nop
	nop
	.loc 1 7 0 is_stmt 1
	.loc 2 8 0 is_stmt 1
	nop
	nop
	.loc 1 9 0 is_stmt 0
	.loc 2 10 0 is_stmt 0
	nop
	nop
	.loc 1 11 0 is_stmt 0
	.loc 2 12 0 is_stmt 1
	nop
	nop
	.loc 1 0 0 is_stmt 1
	.loc 2 13 0 is_stmt 0
	nop
	nop
	.loc 1 14 0 is_stmt 1
	nop
	nop
	.loc 1 14 0 is_stmt 0 discriminator 2
	.loc 2 15 0 is_stmt 0
	nop
	nop
	.loc 1 16 0 is_stmt 1
	.loc 2 17 0 is_stmt 0
	.loc 1 18 0 is_stmt 0
	ret
.Lend:	.size main, .-main
	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11; .byte 1; .uleb128 0x13, 0x0b, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0x10, 0x17, 0, 0
	.uleb128 2, 0x2e; .byte 0; .uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
	.byte 0
	.section .debug_info,"",@progbits
.Lcu:	.long .Lcu_end-.Lcu-4
	.short 4
	.long 0
	.byte 8
	.uleb128 1; .byte 0x0c; .string "lines.c"; .quad main; .quad .Lend-main; .long .Lline
	.uleb128 2; .string "main"; .quad main; .quad .Lend-main
	.byte 0
.Lcu_end:
	.section .debug_line,"",@progbits
.Lline:
	.section .note.GNU-stack,"",@progbits
