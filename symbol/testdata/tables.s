# Two line tables, of DWARF 2 and of DWARF 5, with files whose directories are in no list. A sequence of the second has a row
# without code at its end, where the sequence before it begins. A third unit's addresses have the form of constants. If "broken" is
# defined, a unit of an unknown kind is before them.
	.text
	.globl main, third, other, fourth, fifth
	.type fifth, @function
	.type main, @function
	.type third, @function
	.type other, @function
	.type fourth, @function
main:	nop
	nop
	ret
mainends:
	.size main, .-main
third:	nop
	ret
	.size third, .-third
other:	nop
	nop
	ret
otherends:
	.size other, .-other
fourth:	nop
	ret
fourthends:
	.size fourth, .-fourth
fifth:	nop
	ret
fifthends:
	.size fifth, .-fifth

	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11		# DW_TAG_compile_unit without children
	.byte 0
	.uleb128 0x03, 0x08		# DW_AT_name, DW_FORM_string
	.uleb128 0x10, 0x17		# DW_AT_stmt_list, DW_FORM_sec_offset
	.uleb128 0x11, 0x01		# DW_AT_low_pc, DW_FORM_addr
	.uleb128 0x12, 0x01		# DW_AT_high_pc, DW_FORM_addr
	.uleb128 0, 0
	.uleb128 2, 0x11		# with children
	.byte 1
	.uleb128 0x10, 0x06		# DW_AT_stmt_list, DW_FORM_data4
	.uleb128 0x11, 0x06		# DW_AT_low_pc, DW_FORM_data4
	.uleb128 0x12, 0x06		# DW_AT_high_pc, DW_FORM_data4
	.uleb128 0, 0
	.uleb128 3, 0x2e		# DW_TAG_subprogram without children
	.byte 0
	.uleb128 0x03, 0x08		# DW_AT_name, DW_FORM_string
	.uleb128 0x11, 0x06
	.uleb128 0x12, 0x06
	.uleb128 0, 0
	.uleb128 4, 0x11
	.byte 1
	.uleb128 0x13, 0x0b		# DW_AT_language, DW_FORM_data1
	.uleb128 0, 0
	.uleb128 5, 0x24		# DW_TAG_base_type
	.byte 0
	.uleb128 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b
	.uleb128 0, 0
	.uleb128 6, 0x2e
	.byte 1
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x01
	.uleb128 0, 0
	.uleb128 7, 0x2f		# DW_TAG_template_type_parameter
	.byte 0
	.uleb128 0x03, 0x08, 0x49, 0x13	# DW_AT_name, DW_AT_type
	.uleb128 0, 0
	.uleb128 0

	.section .debug_info,"",@progbits
	.ifdef broken
	.long 2f - 1f
1:	.value 4
	.long .debug_abbrev
	.byte 2				# size of an address
	.uleb128 1
	.endif
2:	.long 2f - 1f
1:	.value 3
	.long .debug_abbrev
	.byte 8
	.uleb128 2
	.long gnat, fourth, fourthends
	.uleb128 3
	.asciz "quarter"
	.long fourth, fourthends
	.byte 0
2:	.long 2f - 1f
1:	.value 4
	.long .debug_abbrev
	.byte 8
	.uleb128 1
	.asciz "old.c"
	.long old
	.quad main, mainends
2:	.long 2f - 1f
1:	.value 5
	.byte 1, 8			# DW_UT_compile
	.long .debug_abbrev
	.uleb128 1
	.asciz "new.c"
	.long new
	.quad third, otherends
2:
cplus:	.long 2f - 1f
1:	.value 4
	.long .debug_abbrev
	.byte 8
	.uleb128 4
	.byte 4				# DW_LANG_C_plus_plus
int:	.uleb128 5
	.asciz "int"
	.byte 4, 5
	.uleb128 6
	.asciz "fifth"
	.quad fifth, fifthends
	.uleb128 7
	.asciz "T"
	.long int - cplus
	.byte 0, 0
2:
	.section .debug_line,"",@progbits
gnat:	.long 2f - 1f
1:	.value 2
	.long 4f - 3f
3:	.byte 1, 1, 1, 1, 10
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1
	.byte 0
	.asciz "gnat.c"
	.uleb128 0, 0, 0
	.byte 0
4:	.byte 0, 9, 2
	.quad fourth
	.byte 3, 61, 1			# line 62
	.byte 2, 2, 0, 1, 1
2:
old:	.long 2f - 1f
1:	.value 2
	.long 4f - 3f
3:	.byte 1, 1, 1, 1, 10		# one byte an instruction, statements, lines from 1 on, opcodes from 10 on
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1
	.byte 0				# no directories
	.asciz "old.c"
	.uleb128 1, 0, 0		# the first directory
	.asciz "older.h"
	.uleb128 300, 0, 0
	.byte 0
4:	.byte 0, 9, 2			# DW_LNE_set_address
	.quad main
	.byte 3, 9, 1			# line 10
	.byte 4, 2, 3, 10, 2, 1, 1	# older.h, line 20, one byte on
	.byte 2, 2, 0, 1, 1		# the end, two bytes on
2:
new:	.long 2f - 1f
1:	.value 5
	.byte 8, 0
	.long 4f - 3f
3:	.byte 1, 1, 1, 1, 1, 10
	.byte 0, 1, 1, 1, 1, 0, 0, 0, 1
	.byte 1				# of directories: a name (DW_FORM_string)
	.uleb128 1, 0x08
	.uleb128 1
	.asciz "/src"
	.byte 2				# of files: a name, the number of a directory (DW_FORM_udata)
	.uleb128 1, 0x08, 2, 0x0f
	.uleb128 2
	.asciz "new.c"
	.uleb128 0
	.asciz "newer.h"
	.uleb128 300
4:	.byte 0, 9, 2
	.quad other
	.byte 3, 29, 4, 0, 1		# new.c, line 30
	.byte 4, 1, 3, 10, 2, 1, 1	# newer.h, line 40
	.byte 2, 2, 0, 1, 1
	.byte 0, 9, 2
	.quad third
	.byte 3, 49, 1			# line 50
	.byte 2, 2, 3, 10, 1		# line 60, two bytes on
	.byte 0, 1, 1			# the end, there
2:
	.section .note.GNU-stack,"",@progbits
