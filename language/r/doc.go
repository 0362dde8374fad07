// Package r knows the frames of R's functions.
//
// What enters: a process, in which the package finds R by a symbol, and then stacks. What leaves:
// functions and builtins, called as Rprof calls them, each in the place of the physical frame that
// has its context, with files and lines where R has kept them.
//
// R lists its calls in contexts. A context lies on the C stack; from R 4.4 on, the one of a
// function that bytecode has called may lie on the bytecode interpreter's stack, and belongs to a
// frame between its neighbours. A context has the call, and the place in the source from which
// it was made: where that was bytecode, a table of the code has the place.
package r
