// Package framebase is the base sniffer that knows DW_AT_frame_base: the address by which debug
// information locates a function's arguments and local variables (GDB's struct frame_base).
//
// In go a frame and the [symbol.Symbolizer] that has the modules' debug information; out comes the
// base, by the registers, the CFA and the memory that the frame sees. Add it to a table with
// [frame.Table.AppendBase]. Frames of functions without debug information are left to the next base
// sniffer, and at last to the table's default.
package framebase
