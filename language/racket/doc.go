// Package racket knows the frames of procedures that Chez Scheme has compiled, Racket's too: Racket
// CS runs on Chez Scheme.
//
// What enters: a process, in which the package finds the run time by what it exports, and then
// stacks. What leaves: procedures with files and lines, in the place of the physical frame that
// runs them.
//
// Procedures have a stack of their own on the heap, in segments. A frame begins with the address at
// which the caller goes on. Before that address, the code says how large the caller's frame is, and
// where the caller's code object begins. A segment that is full, or that a continuation has taken,
// is followed by the next continuation in a chain. Racket keeps a list of such chains: each prompt
// begins one. A thread of Racket that does not run has such a list in its engine.
package racket
