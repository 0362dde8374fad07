/* restorer: signal frames of which SFrame V3 says only that they are ones.
 *
 * A handler returns to a trampoline that is not the kernel's, with other code. Its CFI is
 * an expression, for which the assembler has no form in SFrame: it writes an FDE with the
 * signal attribute and without FREs. Outward of stop_here(NAME) stand, up to main:
 *   nop    on_signal < [sigtramp] < run: the FDE begins before the first instruction
 *   bare   the same: it begins at the first instruction
 *   old    the same on s390x, with the signal frame that has no siginfo
 *   other  on_signal < dispatch, a signal frame that the kernel has not made
 *   before run, each time before the signal
 * DWARF has no more than the CFA: nobody should go by it.
 */
#include "guest.h"

#if defined __aarch64__
#define LOAD_NUMBER "\tmov x8, #130\n\tadd x8, x8, #9\n\tsvc #0\n"
#define CFA "\t.cfi_escape 0x0f, 4, 0x8f, 0xa8, 0x04, 0x06\n"
#define DISPATCH "\tstp x29, x30, [sp, #-32]!\n\tmov w0, #10\n\tbl on_signal\n\tldp x29, x30, [sp], #32\n\tret\n"
#define DISPATCH_CFA "\t.cfi_escape 0x0f, 3, 0x8f, 0x20, 0x06\n"
#else
#define LOAD_NUMBER "\tlghi %r1, 173\n\tsvc 0\n"
#define LOAD_OLD_NUMBER "\tlghi %r1, 119\n\tsvc 0\n"
#define CFA "\t.cfi_escape 0x0f, 3, 0x7f, 0x20, 0x06\n"
#define DISPATCH "\tstmg %r14, %r15, 112(%r15)\n\taghi %r15, -160\n\tlghi %r2, 10\n\tbrasl %r14, on_signal\n\tlmg %r14, %r15, 272(%r15)\n\tbr %r14\n"
#define DISPATCH_CFA CFA
#endif

/* An expression for the CFA is all that the assembler needs to have no form for it. */
#define SIGNAL(name, before, cfa, code) \
    __asm__(".text\n\t.cfi_startproc\n\t.cfi_signal_frame\n" cfa before ".globl " name "\n" name ":\n" code "\t.cfi_endproc\n")

SIGNAL("nop_restorer", "\tnop\n", CFA, LOAD_NUMBER);
SIGNAL("bare_restorer", "", CFA, LOAD_NUMBER);
#ifdef __s390x__
SIGNAL("old_restorer", "\tnop\n", CFA, LOAD_OLD_NUMBER);
#endif
SIGNAL("dispatch", "", DISPATCH_CFA, DISPATCH);

extern void nop_restorer(void), bare_restorer(void), old_restorer(void), dispatch(void);

volatile long counter;
static const char *scenario;

NOINLINE __attribute__((used)) void on_signal(int sig) {
    CLOBBER_SAVED();
    stop_here(scenario);
    counter += sig;
}

/* SA_RESTORER: 0x04000000. */
static void with_restorer(int flags, void (*restorer)(void)) {
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } sa = {on_signal, (unsigned)flags | 0x04000000, restorer, 0};
    call4(SYS_rt_sigaction, SIGUSR1, (long)&sa, 0, 8);
}

NOINLINE long run(const char *name, int flags, void (*restorer)(void)) {
    volatile long local[5] = {1, 2, 3};
    CLOBBER_SOME();
    scenario = name;
    with_restorer(flags, restorer);
    stop_here("before");
    signal_self(SIGUSR1);
    return local[1];
}

NOINLINE long run_other(const char *name) {
    volatile long local[5] = {1, 2, 3};
    scenario = name;
    dispatch();
    return local[1];
}

int main(void) {
    long n = run("nop", SA_SIGINFO, nop_restorer);
    n += run("bare", SA_SIGINFO, bare_restorer);
#ifdef __s390x__
    n += run("old", 0, old_restorer);
#endif
    n += run_other("other");
    KEEP(n);
    _exit(0);
}
