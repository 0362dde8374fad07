// Package exidx reads the exception handling tables of 32-bit Arm: the sections .ARM.exidx and
// .ARM.extab, which most code of that processor has instead of DWARF's call frame information. It
// turns them into [trad.Row]s.
//
// A [Section] is used in place. [Section.Find] searches the index, which is sorted by function, for
// the [Entry] that covers an address. [Section.Unwind] returns the entry's unwinding instructions,
// inline or from the table that the entry points to, and [Unwind.Row] executes them: the
// instructions are commands to a virtual stack pointer, which begins as THIS frame's SP and ends as
// its CFA.
//
// The tables are made for exceptions, which calls throw. So the row of a function is true where a
// call has left it, behind its prologue and before its epilogue, and not at its first and last
// instructions. Nothing in the tables says where these end.
//
// Registers have the numbers of DWARF for the Arm Architecture (AADWARF32, section 4.1). A
// double-precision register below D16 stands in a row as its two single-precision halves, for rows
// have words.
//
// Addresses are 32 bits wide, and belong to the section's own address space: link-time addresses
// for a file, run-time ones for memory. Nothing that is read is trusted: malformed tables give an
// [Error] that says where, and work is bounded by the 255 words that a table can have.
//
// Reference: Exception Handling ABI for the Arm Architecture (IHI 0038, release 2023Q3, "EHABI32"),
// whose sections the comments name.
package exidx
