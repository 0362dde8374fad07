// Package ruby decorates stacks with the frames of Ruby, as CRuby runs it.
//
// What enters: the memory of a process that has a run time of CRuby, and the physical frames of a
// thread. What leaves: the frames of Ruby's methods, blocks and functions in C, with class, file
// and line, each at the call of the virtual machine's evaluator that runs it; what Ruby knows of
// threads; and its fibers.
//
// A thread's execution context is in its thread-local storage. It has the chain of control frames,
// which lie in an array of their own, not on the C stack. Those that one call of the evaluator runs
// end with one that is marked.
package ruby
