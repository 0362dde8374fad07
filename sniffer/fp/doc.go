// Package fp has two sniffers of frame pointer chains. [Flagged] answers only if a module's SFrame
// section promises that all its functions keep frame pointers (SFRAME_F_FRAME_POINTER) and has no
// FDE for the PC. It declines if a table or the code at PC says that the frame pointer is not set
// up there. [Guess] answers for any code, as the last sniffer, and marks its rows as guesses. If
// the ABI has a back chain instead of frame records (s390x), Guess follows that. If compilers do
// not agree on one form of record (32-bit Arm), Guess tries the forms, and takes the one that leads
// on.
//
// Both check the chain before they claim: the frame pointer is aligned, points outward on the stack
// to memory that can be read, and the return address there is in executable memory. For Guess the
// return address must also follow a call, unless it is in memory that belongs to no file and the
// record leads to another good one.
//
// If frame 0 has no record yet, or never has one, its caller's chain would leave the caller out. So
// a link register that leads out of the function comes first for Guess. Without a chain, Guess
// takes the return address at the top of the stack.
package fp
