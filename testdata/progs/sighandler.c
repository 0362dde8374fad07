/* sighandler: a thread blocked inside a signal handler.
 *
 * Proves: the trampoline frame (<signal handler called>) and the frame it
 * interrupted, which is looked up at its PC, not at PC-1.
 *
 *   sighandler STACK CAUSE [siginfo] [vdso]
 *     STACK  normal | alt     where the handler runs (alt: sigaltstack)
 *     CAUSE  fault            SIGSEGV at the very first instruction of a
 *                             function without a frame: PC-1 is outside of it
 *            middle           SIGSEGV in the middle of a function with a frame
 *            async            SIGVTALRM somewhere in a busy loop
 *            raise            raise(3): the interrupted frame is in libc
 *            nested           async, and a fault inside the handler
 *     siginfo  the handler has SA_SIGINFO: on 32-bit x86, another frame
 *     vdso     the handler returns to the vDSO: it has no SA_RESTORER (last)
 *
 *   fault: main > run > first_instruction > [sigtramp] > on_signal > block
 *
 * Build: gcc -g -O2 -Wa,--gsframe sighandler.c
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "ready.h"

static char alt_stack[64 * 1024] __attribute__((aligned(16)));
static volatile sig_atomic_t nested;
volatile long counter;

/* Loads from address 0 with its first instruction. */
extern long first_instruction(long *p);
__asm__(".text\n"
        ".globl first_instruction\n"
        ".type first_instruction, @function\n"
        ".p2align 4\n"
        "first_instruction:\n"
        "\t.cfi_startproc\n"
#ifdef __i386__
        "\tmov 0, %eax\n"
#else
        "\tmov (%rdi), %rax\n"
#endif
        "\tret\n"
        "\t.cfi_endproc\n"
        ".size first_instruction, . - first_instruction\n");

NOINLINE long middle_fault(long *p) {
    volatile long local[12] = {1, 2, 3};
    CLOBBER("rbx", "r12", "r13");
    long r = *p;
    KEEP(r);
    return r + local[1];
}

NOINLINE long spin(long n) {
    volatile long local[6] = {n};
    for (;;) {
        counter += local[0];
        if (counter < 0)
            return counter;
    }
}

NOINLINE long run(const char *cause) {
    long r;
    if (!strcmp(cause, "fault"))
        r = first_instruction(0);
    else if (!strcmp(cause, "middle"))
        r = middle_fault(0);
    else if (!strcmp(cause, "raise"))
        r = raise(SIGUSR1);
    else {
        struct itimerval it = {{0, 0}, {0, 2000}};
        setitimer(ITIMER_VIRTUAL, &it, 0);
        r = spin(1);
    }
    KEEP(r);
    return r + 1;
}

static NOINLINE void on_signal(int sig) {
    if (nested) {
        nested = 0;
        counter += middle_fault(0);
    }
    ready();
    block();
    counter += sig;
}

/* Has the handler return to the vDSO, not to code of the C library. */
static int without_restorer(const struct sigaction *sa, const char *cause) {
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask[2];
    } raw = {sa->sa_handler, sa->sa_flags, 0, {0, 0}};
    const int signals[] = {SIGSEGV, SIGVTALRM, SIGUSR1};
    for (int i = 0; i < 3; i++)
        if (syscall(SYS_rt_sigaction, signals[i], &raw, 0, 8))
            return 3;
    return (int)run(cause);
}

int main(int argc, char **argv) {
    arm();
    if (argc < 3)
        return 2;
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal;
    if (!strcmp(argv[1], "alt")) {
        stack_t ss = {.ss_sp = alt_stack, .ss_size = sizeof alt_stack};
        sigaltstack(&ss, 0);
        sa.sa_flags = SA_ONSTACK;
    }
    nested = !strcmp(argv[2], "nested");
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "siginfo")) /* the same handler: it needs one argument */
            sa.sa_flags |= SA_SIGINFO;
        else
            return without_restorer(&sa, argv[2]);
    }
    sigaction(SIGSEGV, &sa, 0);
    sigaction(SIGVTALRM, &sa, 0);
    sigaction(SIGUSR1, &sa, 0);
    return (int)run(argv[2]);
}
