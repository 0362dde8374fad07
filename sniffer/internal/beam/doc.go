// Package beam unwinds the code that Erlang's run time system, BEAM, has compiled.
//
// Compiled functions run on the stack of their Erlang process, which lies on that process's heap.
// They call C on the stack of the thread. A word on an Erlang stack is a return address if its two
// lowest bits are zero, as the run time system itself tells them from values. The outermost
// function of a process returns to a place that ends the process. The thread has come to the
// process by a jump out of the loop of its scheduler, which C has called.
//
// The package asks internal/erts where modules, functions and the code that they share are.
package beam
