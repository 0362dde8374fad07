// Package hotspot unwinds the code that a Java virtual machine of the HotSpot family has made:
// compiled methods, stubs, and the interpreter.
//
// What enters is what the virtual machine exports for its own debuggers (its serviceability
// agent): tables of its structures' fields, at the symbols gHotSpotVMStructs and its like. They
// lead to the code cache, where each piece of code, a blob, says how large its frame is. All
// offsets come from these tables, for they differ between releases: what the tables leave out
// is not guessed. What leaves are rows.
//
// The tables are read once a process, when a stack first comes to code that no file has.
package hotspot
