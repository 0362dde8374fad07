// Package prologue is the sniffer for code that no table describes. It reads the machine code of
// the function, from its symbol on, to find how far the frame is set up at the PC. For code that
// the compiler has moved out of a function (foo.cold), it follows the flow of control from the
// function's own symbol.
//
// If no symbol tells where the function begins, or the symbol's row does not count, the sniffer
// looks for other evidence: the code from PC to the function's return, calls on the stack, the
// tables of the functions around, the frame record. The list kinds has all evidence, the best
// first, and docs/sniffers.md explains each. A row that may be wrong is marked as a guess. The
// sniffer declines if no return address is good: it must follow a call, or be what a run-time
// system or the kernel plants.
//
// It also answers, before it looks for evidence, for a frame 0 with a PC outside code (a call
// through a bad function pointer has led there), for the kernel's own pages of code, and for a
// thread that has just been made.
package prologue
