// Package sigtramp is the sniffer of signal trampolines: the code that a signal
// handler returns to, whose PREVIOUS was interrupted rather than calling. All
// registers come from the kernel's ucontext.
//
// It knows the trampoline by its machine code, or, where code cannot be read,
// by its symbol, or what the kernel has left at SP. A trampoline of other shape that carries unwind information
// with the 'S' augmentation is left to the dwarf sniffer. Where a table says no more
// than that the frame is a signal frame, the kernel's ucontext at SP is known by what
// it must contain ([Sniffer.SniffSignal]).
package sigtramp
