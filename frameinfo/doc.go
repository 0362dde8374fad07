// Package frameinfo gathers all that a debugger shows of one frame: the content of GDB's info frame.
//
// In go a frame, the table of its stack, and the symbols of its modules. Out comes an [Info]: the frame's
// ID, its PC and the PC to which it returns, the frames around it, where it is in the source, the bases of its
// arguments and local variables, and where it has saved the registers of PREVIOUS. [Of] is for the frames on
// the stack, [OfLogical] for those of package logical: inlined and tail calls, too.
package frameinfo
