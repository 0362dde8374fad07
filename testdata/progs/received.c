/* received: a handler that says which signal it has got, and what the kernel says of its cause.
 *
 *   received CAUSE [plain] [alt] [full] [nodefer] [unblock] [abort | reraise]
 *     CAUSE    null      SIGSEGV at address 0x10
 *              readonly  SIGSEGV at an address that must not be written
 *              far       SIGSEGV at an address that no process has
 *              jump      SIGSEGV as an instruction is fetched from address 0x20
 *              end       SIGBUS behind the end of a mapped file
 *              divide    SIGFPE
 *              illegal   SIGILL
 *              raise     SIGUSR1 of raise(3)
 *              sent      SIGSEGV of kill(2)
 *              queue     signal 40 of sigqueue(3)
 *              alarm     SIGALRM
 *              timer     SIGUSR2 of timer_create(2)
 *              child     SIGCHLD
 *              call      SIGSYS of seccomp(2)
 *              nested    raise, and null in its handler
 *              often     raise, null in its handler, and null in that one's, 100 times: with nodefer
 *              then      readonly, from whose handler the program leaves, then raise with a handler
 *                        of the other kind, at the same place of the stack
 *     plain    the handler has no SA_SIGINFO, and knows the signal's number alone
 *     alt      it runs on an alternate stack
 *     full     it blocks all signals
 *     nodefer  it does not block its own signal
 *     unblock  it unblocks the signals of faults, as HotSpot's does
 *     abort    it calls abort()
 *     reraise  it has the signal end the process, and raises it once more
 *
 * The handler prints "came NUMBER CODE ADDRESS PID STATUS CALL" (as far as siginfo_t has them, else
 * NUMBER alone) behind "ready", and blocks if it does not end the process.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ready.h"

static char alternate[64 * 1024] __attribute__((aligned(16)));
static const char *cause;
static int aborts, raises, unblocks, nests, leaves;
static sigjmp_buf away;
static volatile int zero;
static const char readonly[] = "read";
static char *volatile readable = (char *)readonly;
static int *volatile unmapped = (int *)0x10;

static NOINLINE void end(int sig) {
    if (unblocks) {
        sigset_t faults;
        sigemptyset(&faults);
        sigaddset(&faults, SIGSEGV);
        sigaddset(&faults, SIGBUS);
        sigaddset(&faults, SIGFPE);
        sigaddset(&faults, SIGILL);
        sigprocmask(SIG_UNBLOCK, &faults, 0);
    }
    if (leaves) {
        leaves = 0;
        siglongjmp(away, 1);
    }
    if (nests) {
        nests--;
        *unmapped = 1;
    }
    if (aborts || raises)
        fflush(stdout);
    if (raises) {
        sigset_t set;
        signal(sig, SIG_DFL);
        sigemptyset(&set);
        sigaddset(&set, sig);
        raise(sig);
        sigprocmask(SIG_UNBLOCK, &set, 0);
    }
    if (aborts)
        abort();
    ready();
    fflush(stdout);
    block();
    KEEP(sig);
}

static NOINLINE void plain(int sig) {
    printf("came %d\n", sig);
    end(sig);
    KEEP(sig);
}

static NOINLINE void informed(int sig, siginfo_t *info, void *context) {
    int call = -1;
#ifdef SIGSYS
#ifdef si_syscall
    if (sig == SIGSYS)
        call = info->si_syscall;
#endif
#endif
    printf("came %d %d %#jx %d %d %d\n", sig, info->si_code, (uintmax_t)(uintptr_t)info->si_addr, (int)info->si_pid,
           (int)info->si_status, call);
    end(sig);
    KEEP(context);
}

static void handle(const struct sigaction *sa) {
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGSYS, 40};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], sa, 0);
}

/* getuid(2), and nothing else, brings SIGSYS: struct sock_filter's numbers are in linux/filter.h. */
static void trap_call(void) {
    static struct {
        unsigned short code;
        unsigned char jt, jf;
        unsigned k;
    } filter[] = {{0x20, 0, 0, 0}, {0x15, 0, 1, SYS_getuid}, {0x06, 0, 0, 0x30005}, {0x06, 0, 0, 0x7fff0000}};
    struct {
        unsigned short len;
        void *filter;
    } program = {4, filter};
    prctl(38, 1, 0, 0, 0);         /* PR_SET_NO_NEW_PRIVS */
    prctl(22, 2, &program, 0, 0);  /* PR_SET_SECCOMP, SECCOMP_MODE_FILTER */
    syscall(SYS_getuid);
}

static NOINLINE int is(const char *what) { return !strcmp(cause, what); }

static NOINLINE void bring(void) {
    if (is("null") || is("nested") && !nests)
        *unmapped = 1;
    else if (is("readonly"))
        *readable = 1;
    else if (is("far"))
        *(volatile int *)(uintptr_t)0x4242424242424242 = 1;
    else if (is("jump"))
        ((void (*)(void))0x20)();
    else if (is("end")) {
        FILE *f = tmpfile();
        *(volatile char *)mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0) = 1;
    } else if (is("divide"))
        printf("%d\n", 7 / zero);
    else if (is("illegal"))
        __builtin_trap();
    else if (is("raise") || is("nested") || is("often"))
        raise(SIGUSR1);
    else if (is("sent"))
        kill(getpid(), SIGSEGV);
    else if (is("queue"))
        sigqueue(getpid(), 40, (union sigval){.sival_int = 7});
    else if (is("alarm")) {
        alarm(1);
        pause();
    } else if (is("timer")) {
        timer_t id;
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
        timer_create(CLOCK_MONOTONIC, &event, &id);
        timer_settime(id, 0, &(struct itimerspec){{0, 0}, {0, 1000}}, 0);
        pause();
    } else if (is("child")) {
        if (!fork())
            _exit(3);
        pause();
    } else if (is("call"))
        trap_call();
    KEEP(zero);
}

/* Both signals come while the stack is at the same place. */
static NOINLINE void twice(int signal) {
    if (signal)
        raise(signal);
    else
        *readable = 1;
    KEEP(signal);
}

int main(int argc, char **argv) {
    arm();
    setvbuf(stdout, 0, _IOFBF, 4096); /* else musl writes lines */
    struct sigaction sa, other;
    memset(&sa, 0, sizeof sa);
    if (argc < 2)
        return 2;
    cause = argv[1];
    nests = is("often") ? 100 : is("nested");
    sa.sa_flags = SA_SIGINFO;
    sa.sa_sigaction = informed;
    other = sa;
    other.sa_flags = 0;
    other.sa_handler = plain;
    for (int i = 2; i < argc; i++) {
        const char *flag = argv[i];
        if (!strcmp(flag, "plain")) {
            struct sigaction swap = sa;
            sa = other;
            other = swap;
        } else if (!strcmp(flag, "alt")) {
            stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
            sigaltstack(&stack, 0);
            sa.sa_flags |= SA_ONSTACK;
            other.sa_flags |= SA_ONSTACK;
        } else if (!strcmp(flag, "full")) {
            sigfillset(&sa.sa_mask);
            sigfillset(&other.sa_mask);
        } else if (!strcmp(flag, "nodefer")) {
            sa.sa_flags |= SA_NODEFER;
            other.sa_flags |= SA_NODEFER;
        } else if (!strcmp(flag, "unblock"))
            unblocks = 1;
        else if (!strcmp(flag, "abort"))
            aborts = 1;
        else if (!strcmp(flag, "reraise"))
            raises = 1;
    }
    handle(&sa);
    if (!is("then")) {
        bring();
        return 1;
    }
    leaves = 1;
    if (!sigsetjmp(away, 1))
        twice(0);
    handle(&other);
    twice(SIGUSR1);
    return 1;
}
