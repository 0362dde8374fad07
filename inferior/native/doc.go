// Package native holds live Linux processes of this machine, by ptrace(2): [Attach] gives an
// [inferior.Process].
//
// The tracer is a process of its own, the guard: this program, started once more (/proc/self/exe),
// which an init function turns into the guard before main (package internal/guard). The guard knows
// at any time what must be put back: the code where breakpoints stand, the registers of threads
// that were made to run something else, signals that have come and were not delivered. It notes
// that before it changes anything. When the socket to this program breaks, because the process is
// let go, or because this program has ended in whatever way, the guard puts everything back, lets
// the threads go, and ends. It is in a session of its own, so that Ctrl-C and signals to this
// program's group do not reach it.
//
// Only if somebody kills the guard itself by SIGKILL does the process run on as it is: the kernel
// lets its threads go.
//
// Registers and memory go out, and changes of them come in; who walks stacks uses the process as a
// target.Target.
package native
