/* textrel: an object for registers.c whose table names addresses relative to its section
 * .text (DW_EH_PE_textrel), as LuaJIT's objects do.
 *
 * Build: gcc -c textrel.c
 */
__asm__("\t.text\n"
        ".Ltext:\n"
        "\tnop\n"
        "\t.globl first\n"
        "\t.type first, @function\n"
        "first:\n"
        "\tsub $24, %rsp\n"
        ".Lset_up:\n"
        "\tmov (%rdi), %rax\n"
        "\tadd $8, %rdi\n"
        "\tinc %rsi\n"
        "\tcall *%rax\n"
        "\tadd $24, %rsp\n"
        ".Ltorn_down:\n"
        "\tret\n"
        ".Lend:\n"
        "\t.size first, . - first\n"
        "\t.section .eh_frame, \"a\", @progbits\n"
        ".Lcie:\n"
        "\t.long .Lcie_end - .Lcie_id\n"
        ".Lcie_id:\n"
        "\t.long 0\n"
        "\t.byte 1\n"                         /* version */
        "\t.string \"zR\"\n"
        "\t.uleb128 1\n"                      /* code alignment */
        "\t.sleb128 -8\n"                     /* data alignment */
        "\t.byte 16\n"                        /* return address */
        "\t.uleb128 1\n\t.byte 0x2b\n"        /* DW_EH_PE_textrel | DW_EH_PE_sdata4 */
        "\t.byte 0x0c, 7, 8\n"                /* DW_CFA_def_cfa: rsp + 8 */
        "\t.byte 0x90, 1\n"                   /* DW_CFA_offset: return address at CFA - 8 */
        "\t.balign 8\n"
        ".Lcie_end:\n"
        "\t.long .Lfde_end - .Lfde\n"
        ".Lfde:\n"
        "\t.long .Lfde - .Lcie\n"
        "\t.long first - .Ltext\n"
        "\t.long .Lend - first\n"
        "\t.uleb128 0\n"
        "\t.byte 0x40 + .Lset_up - first\n"   /* DW_CFA_advance_loc */
        "\t.byte 0x0e, 32\n"                  /* DW_CFA_def_cfa_offset */
        "\t.byte 0x40 + .Ltorn_down - .Lset_up\n"
        "\t.byte 0x0e, 8\n"
        "\t.balign 8\n"
        ".Lfde_end:\n"
        "\t.section .note.GNU-stack, \"\", @progbits\n");
