/* Debug information as few compilers write it, but as DWARF allows it: units that do not say which code they have; a function
   without children, followed by a global variable; a struct of two words that is in one register, by name; a unit with
   addresses of 4 bytes. main calls leaf, leaf calls narrow, narrow calls wide, which spins. Link with -no-pie, without -g. */
#include <stdio.h>

void leaf(void);
long counter = 77;

int main(void)
{
	puts("ready");
	fflush(stdout);
	leaf();
	return 0;
}

asm(".text\n"
    "leaf: .cfi_startproc\n push %rbx\n .cfi_adjust_cfa_offset 8\n call narrow\n pop %rbx\n .cfi_adjust_cfa_offset -8\n ret\n"
    " .cfi_endproc\n.Lleaf_end:\n"
    "narrow: .cfi_startproc\n push $1234\n .cfi_adjust_cfa_offset 8\n call wide\n pop %rax\n .cfi_adjust_cfa_offset -8\n ret\n"
    " .cfi_endproc\n.Lnarrow_end:\n"
    "wide: .cfi_startproc\n mov $11, %ebx\n mov $22, %ecx\n1: jmp 1b\n .cfi_endproc\n.Lwide_end:\n"
    ".globl leaf\n.type leaf, @function\n.type narrow, @function\n.type wide, @function\n");

/* Abbreviations: a code, a tag, whether there are children, pairs of an attribute and a form, 0 0. */
asm(".section .debug_abbrev,\"\",@progbits\n.Labbrev:\n"
    ".uleb128 1, 0x11, 1, 0x03, 0x08, 0x13, 0x0b, 0, 0\n"                         /* compile_unit: name, language */
    ".uleb128 2, 0x2e, 0, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0\n"             /* subprogram: name, low_pc, high_pc as data8 */
    ".uleb128 3, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0\n"             /* the same with children */
    ".uleb128 4, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x3f, 0x19, 0x02, 0x18, 0, 0\n" /* variable: name, type, external, location */
    ".uleb128 5, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18, 0, 0\n"             /* variable: name, type, location */
    ".uleb128 6, 0x24, 0, 0x03, 0x08, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0\n"             /* base_type: name, byte_size, encoding */
    ".uleb128 7, 0x13, 1, 0x03, 0x08, 0x0b, 0x0b, 0, 0\n"                         /* structure_type: name, byte_size */
    ".uleb128 8, 0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0x38, 0x0b, 0, 0\n"             /* member: name, type, data_member_location */
    ".uleb128 0\n");

#define LONG(label) label ": .uleb128 6\n .asciz \"long\"\n .byte 8, 5\n"

asm(".section .debug_info,\"\",@progbits\n"
    ".Lunit: .long .Lunit_end - .Lversion\n.Lversion: .value 4\n .long .Labbrev\n .byte 8\n"
    " .uleb128 1\n .asciz \"handmade.c\"\n .byte 0x0c\n"
    " .uleb128 2\n .asciz \"leaf\"\n .quad leaf\n .quad .Lleaf_end - leaf\n"
    " .uleb128 4\n .asciz \"counter\"\n .long .Llong - .Lunit\n .uleb128 9\n .byte 3\n .quad counter\n"
    " .uleb128 3\n .asciz \"wide\"\n .quad wide\n .quad .Lwide_end - wide\n"
    " .uleb128 5\n .asciz \"pair\"\n .long .Lpair - .Lunit\n .uleb128 1\n .byte 0x53\n" /* DW_OP_reg3, rbx */
    " .uleb128 5\n .asciz \"one\"\n .long .Llong - .Lunit\n .uleb128 1\n .byte 0x53\n"
    " .uleb128 0\n"
    LONG(".Llong")
    ".Lpair: .uleb128 7\n .asciz \"pair_t\"\n .byte 16\n"
    " .uleb128 8\n .asciz \"first\"\n .long .Llong - .Lunit\n .byte 0\n"
    " .uleb128 8\n .asciz \"second\"\n .long .Llong - .Lunit\n .byte 8\n"
    " .uleb128 0\n .uleb128 0\n.Lunit_end:\n"
    ".Lunit4: .long .Lunit4_end - .Lversion4\n.Lversion4: .value 4\n .long .Labbrev\n .byte 4\n"
    " .uleb128 1\n .asciz \"narrow.c\"\n .byte 0x0c\n"
    " .uleb128 3\n .asciz \"narrow\"\n .long narrow\n .quad .Lnarrow_end - narrow\n"
    " .uleb128 5\n .asciz \"stacked\"\n .long .Llong4 - .Lunit4\n .uleb128 2\n .byte 0x77, 0\n" /* DW_OP_breg7, rsp */
    " .uleb128 5\n .asciz \"global\"\n .long .Llong4 - .Lunit4\n .uleb128 5\n .byte 3\n .long counter\n"
    " .uleb128 0\n"
    LONG(".Llong4")
    " .uleb128 0\n.Lunit4_end:\n"
    ".section .note.GNU-stack,\"\",@progbits\n.text\n");
