// Package live takes the picture of a running Linux process that unwinding
// needs, and lets the process go on.
//
// What enters is a process ID. [Attach] stops the threads (PTRACE_SEIZE,
// PTRACE_INTERRUPT), reads their registers, copies the inner part of their stacks, and
// lets them go: one after the other, or all at one moment ([Options.Consistent]). What
// leaves is a [Target]: each thread's registers and the copies of its stack are of one
// moment. More of a stack, and what else a walk needs, is copied when it is read: from a
// thread that is blocked where it was it is of the same moment. One that has run on can be
// read once more, and held while its stack is walked ([Thread.Retake]). Module files are
// opened when first asked for, the file that is mapped and no other, also if it was
// deleted, replaced, or is seen in a mount namespace of the process's own.
//
// The process survives the death of the caller at any moment, and no signal is
// lost. As under every debugger, system calls that signal(7) lists as
// interrupted by stop signals (epoll_wait, semop, …) may return EINTR when their
// thread is stopped.
package live
