// Package hotspot unwinds the code that a Java virtual machine of the HotSpot family has made:
// compiled methods, stubs, and the interpreter.
//
// It reads the tables that the virtual machine exports for its own debuggers (its serviceability
// agent), at gHotSpotVMStructs and similar symbols: the fields of its structures. They lead to the
// code cache, where each piece of code, a blob, has the size of its frame. All offsets come from
// these tables, because they differ between releases. The package does not guess an offset that the
// tables leave out.
//
// The tables are read once for a process, when a stack first comes to code that is in no file.
package hotspot
