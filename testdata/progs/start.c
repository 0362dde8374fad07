/* start: a program without libc, whose _start no table describes.
 *
 * Proves: the outermost frame, whose CFA is that of its callee as it has aligned SP.
 *   _start > waits
 *
 * Build: gcc -nostdlib -static start.c
 */
__asm__(".text\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "\txor %ebp, %ebp\n"
        "\tand $-16, %rsp\n"
        "\tcall waits\n"
        "\thlt\n"
        ".size _start, . - _start\n"

        ".type waits, @function\n"
        "waits:\n"
        "\tmov $1, %eax\n" /* write */
        "\tmov $1, %edi\n"
        "\tlea says(%rip), %rsi\n"
        "\tmov $6, %edx\n"
        "\tsyscall\n"
        "1:\txor %eax, %eax\n" /* read */
        "\txor %edi, %edi\n"
        "\tlea byte(%rip), %rsi\n"
        "\tmov $1, %edx\n"
        "\tsyscall\n"
        "\ttest %rax, %rax\n"
        "\tjg 1b\n"
        "\tmov $60, %eax\n" /* exit */
        "\txor %edi, %edi\n"
        "\tsyscall\n"
        "\thlt\n"
        ".size waits, . - waits\n"
        ".data\n"
        "says: .ascii \"ready\\n\"\n"
        "byte: .byte 0\n");
