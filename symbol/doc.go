// Package symbol says where in the source an address is.
//
// In go the modules of a target and an address in block (see [frame.Frame.AddressInBlock]). Out
// come [Location]s: the calls that the compiler inlined at that address, innermost first, then the
// function that contains the code. Each has its demangled name, its file and its line.
//
// A [Symbolizer] reads what modules' ELF files say: DWARF, symbol tables, the compressed
// .gnu_debugdata, and separate debug files, which it finds by build ID or .gnu_debuglink. It reads
// DWARF 2 to 5, also where that is split into .dwo files or packages of them (.dwp), and where dwz
// has moved a part to a file that several share. Where such a file is missing, symbol tables give
// the names. Where a Go program has no DWARF, the function table that every Go program has (package
// gopclntab) gives functions, files, lines and inlined calls. Names and files are spelled as GDB
// spells them. Other formats can be read by a [Source].
//
// A module is read when somebody first asks for an address in it: DWARF one compilation unit at a
// time, inflated no further than that needs. Nothing that is read is trusted: .debug_aranges only
// says which unit to look at first.
//
// [frame.Frame.AddressInBlock]: https://pkg.go.dev/github.com/sfwalk/sfwalk/frame#Frame.AddressInBlock
package symbol
