// Package logical shows a stack as a programmer wrote it: with the calls that the compiler has
// inlined, and with the functions that have left by a tail call.
//
// What enters: the physical frames of a [frame.Stack], and a [symbol.Symbolizer]. What leaves: a
// [Frame] for each function that was called, the innermost first, numbered as GDB does: with its
// type, ID, function, block, file and line, and the physical frame that it is laid over.
//
// An inlined call is laid over the frame of the function that it is inlined into. A tail call is a
// jump: it leaves nothing on the stack. The debug information tells which function was called and
// who jumped to whom. A View shows only what is certain; see [symbol.Symbolizer.TailCalls].
//
// [Frame.Info] gathers all that a debugger shows of one frame, [PhysicalInfo] does so for a frame
// on the stack.
package logical
