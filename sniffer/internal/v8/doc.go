// Package v8 unwinds code that V8 has optimized, and that is not valid any more.
//
// V8 leaves such code when a function returns to it: it replaces the return address on the stack by
// the address of an exit, which calls the deoptimizer. The exits stand in a row behind the code,
// and nothing leads from one to the next, so that the code at PC does not tell the frame. But all
// code of V8's that calls something has a frame pointer.
package v8
