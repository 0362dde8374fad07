/* guest.h: what the guests of emulated arm, arm64, i386 and s390x processors share.
 *
 * A guest goes through its scenarios and calls stop_here() in each: a debugger
 * with a breakpoint there sees every stack once. With -DBARE it stands on
 * system calls alone (-nostdlib -static), so that it is small, and the same at
 * every run; without, on the C library.
 */
#ifndef SFWALK_GUEST_H
#define SFWALK_GUEST_H

#define NOINLINE __attribute__((noinline, noclone))

/* Keeps a call from becoming a tail call, and a value from being known. */
#define KEEP(x) __asm__ volatile("" : "+r"(x))

/* SAVED: registers that the prologue must save; SAVED_FP: of floating point. */
#if defined __aarch64__
#define CLOBBER_SAVED() __asm__ volatile("" ::: "x19", "x20", "x21", "x22", "x23", "x27", "x28")
#define CLOBBER_SOME() __asm__ volatile("" ::: "x19", "x24")
#define CLOBBER_FP() __asm__ volatile("" ::: "v8", "v9", "v10", "v15")
#elif defined __arm__
/* One of r7 (Thumb code) and r11 (A32 code) is the frame pointer, which may not be listed. */
#define CLOBBER_SAVED() __asm__ volatile("" ::: "r4", "r5", "r6", "r8", "r9", "r10")
#define CLOBBER_SOME() __asm__ volatile("" ::: "r4", "r8")
#define CLOBBER_FP() __asm__ volatile("" ::: "d8", "d9", "d10", "d15")
#elif defined __i386__
#define CLOBBER_SAVED() __asm__ volatile("" ::: "ebx", "esi", "edi")
#define CLOBBER_SOME() __asm__ volatile("" ::: "esi", "edi")
#define CLOBBER_FP() __asm__ volatile("" ::: "st", "st(1)", "st(2)")
#elif defined __s390x__
#define CLOBBER_SAVED() __asm__ volatile("" ::: "r6", "r7", "r8", "r9", "r10")
#define CLOBBER_SOME() __asm__ volatile("" ::: "r8", "r10")
#define CLOBBER_FP() __asm__ volatile("" ::: "f8", "f9", "f12", "f15")
#else
#error "guests are for arm, arm64, i386 and s390x"
#endif

/* The debugger's breakpoint is here. */
NOINLINE void stop_here(const char *scenario) { __asm__ volatile("" : : "r"(scenario) : "memory"); }

#ifdef BARE
#include "bare.h"
#else
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static inline void on(int sig, void (*handler)(int), int flags) {
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = handler;
#if defined __arm__ /* gdb reads the other frames of qemu wrong: see bare.h */
    flags |= SA_SIGINFO;
#endif
    sa.sa_flags = flags;
    sigaction(sig, &sa, 0);
}

static inline void alternate(void *stack, unsigned long size) {
    stack_t ss = {.ss_sp = stack, .ss_size = size};
    sigaltstack(&ss, 0);
}

static inline void signal_self(int sig) { raise(sig); }
#endif

#endif
