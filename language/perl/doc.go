// Package perl knows the frames of Perl's subs.
//
// What enters: a process, in which the package finds perl or libperl by a symbol, and then
// stacks. What leaves: the subs, evals and files that run, with their lines, each in the place
// of the run loop (Perl_runops_standard) that runs it, and subs in C (XS) by the names that Perl
// has for them.
//
// Perl has a list of stacks (PERL_SI), each with a list of contexts: the sub calls, evals and
// blocks that have not ended. They are on the heap. Each C function that calls back into Perl
// begins a run loop of its own, and the first context of that loop says so: it returns to no op.
// An eval has the address of its JMPENV, which is on the C stack.
//
// In a perl with threads the interpreter is a struct, whose address is in a register that the run
// loop keeps. That a value is such an address is checked: its JMPENVs lead back into the struct.
package perl
