// Package ahead follows machine code forward, from the middle of a function to where it
// returns, for code of which nobody knows where its function begins: no table and no
// symbol tells. What the way out does to the stack pointer, and what it loads where, says
// where the return address and the caller's registers are.
//
// All ways out of one function undo the same frame, so the first that is found will do:
// neither conditions nor memory need be known. Two things are taken on trust. A call comes
// back, and leaves the stack and the registers that the ABI preserves as they were; ways
// with fewer calls are tried first. A jump goes on in the same function, or to one that
// returns for it, which is the same. Whether a return address follows a call is left to
// the caller to check.
//
// What instructions do to a state is said by the micro-operations of package dataflow, into which
// each processor's package decodes. The search is here, and knows no processor.
package ahead
