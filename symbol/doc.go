// Package symbol says where in the source an address is.
//
// Enters: the modules of a target and an address in block (what
// [frame.Frame.AddressInBlock] gives). Leaves: [Location]s, the calls that the
// compiler inlined at that address first and the function that contains the
// code last, each with its demangled name, file and line.
//
// A module's names come from its DWARF, its symbol tables, its compressed
// .gnu_debugdata, or a separate debug file found by build ID or .gnu_debuglink;
// names and files are spelled as GDB spells them. Everything is read when an
// address of the module is first asked for, DWARF one compilation unit at a
// time and inflated no further than that needs, and nothing that is read is
// trusted: .debug_aranges only says which unit to look at first. DWARF 2 to 5 are read, also
// where it is split into .dwo files or packages of them (.dwp), and what dwz has moved to a file
// that several share; where such a file is missing, the names of symbol tables serve. Where a Go
// program has no DWARF, the function table that every one has (package gopclntab) says what DWARF
// would: functions, files, lines, inlined calls.
//
// [frame.Frame.AddressInBlock]: https://pkg.go.dev/github.com/sfwalk/sfwalk/frame#Frame.AddressInBlock
package symbol
