// Package fibers lists the fibers of Boost.Fiber in a process: where each waits, and for what.
//
// A fiber has a stack of its own. When another one runs, what its registers had lies on that stack,
// and the fiber's object (boost::fibers::context) has the address: so the stack is walked as a
// thread's is.
//
// A thread's own storage leads to the fiber that runs in it, that to its scheduler, and the
// scheduler to its fibers. Nothing of that needs debug information: the objects point to each
// other, and their layout has changed once since 1.66.
package fibers
