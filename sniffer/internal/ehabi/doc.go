// Package ehabi is the sniffer that reads the exception tables of 32-bit Arm, .ARM.exidx and
// .ARM.extab, which most code of that processor has instead of DWARF. Package
// [github.com/sfwalk/sfwalk/format/exidx] reads the format.
//
// The tables are true where a call has left a function. In frame 0, and in a frame that a signal
// has interrupted, the function may still be setting its frame up, or be taking it down: there, its
// code decides. Where the code says something else than the table, or the table is all that there
// is and the code near PC contradicts it, the sniffer declines.
package ehabi
