// Package pypy finds PyPy in a process, and the frames of the code that its compiler makes.
//
// What enters: the modules of a process, and addresses on a stack. What leaves: PyPy's module, and
// the records by which PyPy's profiler (vmprof) finds those frames.
package pypy
