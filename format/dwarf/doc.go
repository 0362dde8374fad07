// Package dwarf reads the parts that DWARF's sections are made of (DWARF 5, section 7): units,
// abbreviations, entries, lists of ranges and of locations; and the numbers and strings of call
// frame information.
//
// Nothing here opens a file or keeps a section. A caller has the bytes, and a [Reader] reads them
// in place. [Units] finds units, [ReadAbbrevs] the layouts of their entries, and a [Cursor] goes
// from entry to entry. A [Value] of an entry is an offset or an index where it lies in another
// section: the caller, who has that section, looks it up.
//
// Nothing that is read is trusted. What is kept is a small multiple of the bytes that were read,
// and no number of the input is the size of anything. Many entries may refer to the same bytes: to
// bound that work is the caller's.
package dwarf
