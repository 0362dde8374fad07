// Package frame is the unwinder's engine: chains of frames, and the ordered
// table of sniffers that unwind them.
//
// A [Stack] is one thread's chain. Frame 0 is the innermost; its NEXT is the
// sentinel at level -1, which stands for the live registers. Every frame's
// registers are unwound through its NEXT: [Frame.Register] asks what NEXT's
// row says about its PREVIOUS. Frames are made when [Frame.Prev] first asks.
// A [Walker] is for profilers: registers and a memory in, the PCs of the same
// frames out, without allocating.
//
// A [Sniffer] answers with a [trad.Row] for a PC range. The [Table] caches the row, so
// that a second frame at the same PC asks no sniffer. A row may be marked as a guess: at each
// frame, it competes with the guesses of later sniffers. A sniffer whose frames no row can
// describe implements [Unwinder].
//
// Registers and memory come in from a [target.Target], rows from the sniffers;
// frames, IDs, values and stop reasons go out. Package symbol adds the names of functions.
package frame
