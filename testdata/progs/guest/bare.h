/* bare.h: a guest without a C library: the entry point and what guest.h takes
 * from libc elsewhere, by system calls. */
#ifndef SFWALK_BARE_H
#define SFWALK_BARE_H

#define SIGUSR1 10
#define SIGSEGV 11
#define SA_SIGINFO 4
#define SA_ONSTACK 0x08000000
#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2

#if defined __aarch64__
enum { SYS_getpid = 172, SYS_kill = 129, SYS_mprotect = 226, SYS_rt_sigaction = 134, SYS_sigaltstack = 132, SYS_exit_group = 94 };

static inline long call4(long nr, long a, long b, long c, long d) {
    register long x8 __asm__("x8") = nr;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}

__asm__(".text\n.globl _start\n.type _start, %function\n"
        "_start:\n\t.cfi_startproc\n\t.cfi_undefined x30\n"
        "\tmov x29, #0\n\tmov x30, #0\n\tbl main\n"
        "\tmov x8, #94\n\tsvc #0\n"
        "\t.cfi_endproc\n.size _start, . - _start\n");
#elif defined __arm__
enum { SYS_getpid = 20, SYS_kill = 37, SYS_mprotect = 125, SYS_rt_sigaction = 174, SYS_sigaltstack = 186, SYS_exit_group = 248 };

/* r7, which has the number, is the frame pointer of Thumb code. */
long call4(long nr, long a, long b, long c, long d);
__asm__(".text\n.arm\n.p2align 2\n.type call4, %function\ncall4:\n\t.fnstart\n\t.cfi_startproc\n"
        "\tpush {r7}\n\t.save {r7}\n\t.cfi_def_cfa_offset 4\n\t.cfi_offset r7, -4\n"
        "\tmov r7, r0\n\tmov r0, r1\n\tmov r1, r2\n\tmov r2, r3\n\tldr r3, [sp, #4]\n\tsvc #0\n"
        "\tpop {r7}\n\t.cfi_restore r7\n\t.cfi_def_cfa_offset 0\n\tbx lr\n"
        "\t.cfi_endproc\n\t.fnend\n.size call4, . - call4\n");

__asm__(".text\n.globl _start\n.type _start, %function\n"
        "_start:\n\t.fnstart\n\t.cfi_startproc\n\t.cfi_undefined lr\n"
        "\tmov r11, #0\n\tmov lr, #0\n\tbl main\n"
        "\tmov r7, #248\n\tsvc #0\n"
        "\t.cfi_endproc\n\t.cantunwind\n\t.fnend\n.size _start, . - _start\n");

/* What handlers return to. gdb does not know the code that the kernel puts there itself, and reads the frames of qemu
 * wrong that have no siginfo: these lack the mark that the kernel's have. */
__asm__(".text\n.type restore_rt, %function\nrestore_rt:\n\tmov r7, #173\n\tsvc #0\n.size restore_rt, . - restore_rt\n"
#if defined __thumb__
        ".thumb\n"
#endif
);
void restore_rt(void);
#define MORE_FLAGS (0x04000000 | SA_SIGINFO) /* SA_RESTORER */
#define RESTORER restore_rt

/* Exception tables refer to these. */
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}
#elif defined __i386__
enum { SYS_getpid = 20, SYS_kill = 37, SYS_mprotect = 125, SYS_rt_sigaction = 174, SYS_sigaltstack = 186, SYS_exit_group = 252 };

static inline long call4(long nr, long a, long b, long c, long d) {
    __asm__ volatile("int $0x80" : "+a"(nr) : "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
    return nr;
}

__asm__(".text\n.globl _start\n.type _start, @function\n"
        "_start:\n\t.cfi_startproc\n\t.cfi_undefined eip\n"
        "\txor %ebp, %ebp\n\tand $-16, %esp\n\tcall main\n"
        "\tmov $252, %eax\n\tint $0x80\n"
        "\t.cfi_endproc\n.size _start, . - _start\n");

/* What handlers return to: gdb does not know the code of qemu 7.2, and knows this by its name. The nop keeps the byte before it,
 * where gdb looks for a table, apart from _start. */
__asm__(".text\n\tnop\n.type __restore_rt, @function\n__restore_rt:\n\tmov $173, %eax\n\tint $0x80\n.size __restore_rt, . - __restore_rt\n");
void __restore_rt(void);
#define MORE_FLAGS (0x04000000 | SA_SIGINFO) /* SA_RESTORER */
#define RESTORER __restore_rt
#else
enum { SYS_getpid = 20, SYS_kill = 37, SYS_mprotect = 125, SYS_rt_sigaction = 174, SYS_sigaltstack = 186, SYS_exit_group = 248 };

static inline long call4(long nr, long a, long b, long c, long d) {
    register long r1 __asm__("r1") = nr;
    register long r2 __asm__("r2") = a;
    register long r3 __asm__("r3") = b;
    register long r4 __asm__("r4") = c;
    register long r5 __asm__("r5") = d;
    __asm__ volatile("svc 0" : "+d"(r2) : "d"(r1), "d"(r3), "d"(r4), "d"(r5) : "memory");
    return r2;
}

/* The back chain ends with a zero word. */
__asm__(".text\n.globl _start\n.type _start, @function\n"
        "_start:\n\t.cfi_startproc\n\t.cfi_undefined r14\n"
        "\taghi %r15, -160\n\txc 0(8,%r15), 0(%r15)\n\tlghi %r11, 0\n\tbrasl %r14, main\n"
        "\tlghi %r1, 248\n\tsvc 0\n"
        "\t.cfi_endproc\n.size _start, . - _start\n");
#endif

#ifndef RESTORER
#define RESTORER 0
#define MORE_FLAGS 0
#endif

/* struct sigaction, stack_t as these kernels have them. */
static inline void on(int sig, void (*handler)(int), int flags) {
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask[8 / sizeof(long)];
    } sa = {handler, (unsigned)(flags | MORE_FLAGS), RESTORER, {0}};
    call4(SYS_rt_sigaction, sig, (long)&sa, 0, 8);
}

static inline void alternate(void *stack, unsigned long size) {
    struct {
        void *sp;
        int flags;
        unsigned long size;
    } ss = {stack, 0, size};
    call4(SYS_sigaltstack, (long)&ss, 0, 0, 0);
}

static inline long mprotect(void *p, unsigned long n, int prot) { return call4(SYS_mprotect, (long)p, (long)n, prot, 0); }

static inline void signal_self(int sig) { call4(SYS_kill, call4(SYS_getpid, 0, 0, 0, 0), sig, 0, 0); }

__attribute__((noreturn)) static inline void _exit(int code) {
    for (;;)
        call4(SYS_exit_group, code, 0, 0, 0);
}

/* gcc calls these on its own. */
void *memset(void *p, int c, unsigned long n) {
    volatile char *q = p;
    while (n--)
        *q++ = (char)c;
    return p;
}

void *memcpy(void *to, const void *from, unsigned long n) {
    volatile char *q = to;
    const char *f = from;
    while (n--)
        *q++ = *f++;
    return to;
}

#endif
