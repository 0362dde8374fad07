// Package sigtramp is the sniffer of signal trampolines: the code that a signal
// handler returns to. PREVIOUS was interrupted, and did not call the trampoline. All its
// registers come from the kernel's ucontext.
//
// The sniffer recognizes a trampoline by its machine code. If the code cannot be read, it
// does so by the symbol, or by what the kernel has written at SP. It leaves other trampolines, with
// unwind information that has the 'S' augmentation, to the sniffer dwarf. If a table says only
// that THIS is a signal frame, the sniffer recognizes the kernel's ucontext at SP by its
// contents ([Sniffer.SniffSignal]).
package sigtramp
