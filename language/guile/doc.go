// Package guile knows the frames of Guile's procedures.
//
// What enters: a process, in which the package finds Guile by a symbol, and then stacks. What
// leaves: the procedures of the virtual machine's stack, with files and lines, in the place of the
// physical frames of scm_call_n that run the virtual machine.
//
// The virtual machine has a stack of its own for each thread. Its frames have the address at which
// the caller goes on, in code that Guile has loaded as ELF files; these have names and lines. Each
// call from C begins with a frame whose code does nothing but stop.
package guile
