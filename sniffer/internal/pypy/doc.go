// Package pypy is the sniffer for the code that PyPy's compiler makes.
//
// What enters: a frame. What leaves: a row. All such code has frames of one size, each with a
// record in it that has the frame's own stack pointer.
package pypy
