// Package sbcl decorates the stacks of SBCL (Steel Bank Common Lisp): functions by their names, and
// the files from which they were loaded.
//
// Compiled functions have physical frames, which the sniffer sbcl finds: they are named here. A
// code object leads to its debug information (SB-C::COMPILED-DEBUG-INFO), which has the functions
// in it, with the places where each begins. Up to 2.2 they are a chain of instances
// (COMPILED-DEBUG-FUN), later a packed vector, which the run time may have compressed. Both are
// told by what is there. Names are written as the run time's own backtrace writes them.
package sbcl
