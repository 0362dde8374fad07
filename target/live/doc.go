// Package live copies what unwinding needs of a running Linux process, and lets the process go on.
//
// Given a process ID, [Attach] stops the threads (PTRACE_SEIZE, PTRACE_INTERRUPT), reads their
// registers, copies the inner part of their stacks, and lets them go: one after the other, or all
// at one moment ([Options.Consistent]). It returns a [Target], in which each thread's registers and
// the copies of its stack are of one moment.
//
// The outer part of a large stack, and whatever else a walk needs, is copied when it is read. If
// the thread is still blocked at the same place, that memory is of the same moment. A thread that
// has run on can be read once more, and held while its stack is walked ([Thread.Retake]).
//
// A module's file is opened when it is first asked for. It is always the file that is mapped, even
// if that was deleted or replaced, or is visible only in a mount namespace of the process's own.
//
// The process survives the death of the caller at any moment, and no signal is lost. As under every
// debugger, system calls that signal(7) lists as interrupted by stop signals (epoll_wait, semop, …)
// may return EINTR when their thread is stopped.
package live
