// Package siginfo reads the kernel's siginfo_t (sigaction(2)): which signal came, and what the
// kernel says of its cause. Core files have one in NT_SIGINFO, stubs send one, and the kernel puts
// one on the stack for a signal handler.
package siginfo
