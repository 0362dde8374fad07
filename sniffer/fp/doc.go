// Package fp is the sniffer of frame pointer chains. It comes in two strengths:
// [Flagged] answers only where a module's SFrame section promises that all its
// functions keep frame pointers (SFRAME_F_FRAME_POINTER) and has no entry for
// the PC, unless a table or the code at PC says that the frame pointer is not set up
// there; [Guess] answers for any code, last, and marks its rows as guesses.
// Where the ABI has no frame records but a back chain (s390x), Guess follows
// that.
//
// Both check the chain before they claim: the frame pointer is aligned, points
// outward on the stack, what it points to can be read, and the return address
// found there is in executable memory, behind a call. In memory that belongs to no file it
// need not be behind a call for Guess, where the record leads to another good one.
package fp
