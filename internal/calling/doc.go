// Package calling has a thread of a process call the functions that expressions name: it is what
// package value asks of a target that is held.
//
// What enters: an [inferior.Process] with a thread that stands still, and calls that package value
// has evaluated, with arguments of the parameters' types. What leaves: the bytes of a result.
// Functions are found by name in the symbol tables of all modules. Debug information tells the
// types of parameters and results. Without it, numbers are passed as they are written.
package calling
