// Package symbol says where in the source an address is.
//
// Give it the modules of a target and an address in block (see [frame.Frame.AddressInBlock]). It
// returns [Location]s: the calls that the compiler inlined at that address, innermost first, then
// the function that contains the code. Each has its demangled name, its file and its line.
//
// A [Symbolizer] reads modules' ELF files: DWARF, symbol tables, the compressed .gnu_debugdata, and
// separate debug files, which it finds by build ID or .gnu_debuglink. It reads DWARF 2 to 5, also
// if that is split into .dwo files or packages of them (.dwp, or sections of the file itself), and
// if dwz has moved a part to a shared file. If such a file is missing, symbol tables give the
// names. If a Go program has no DWARF, the function table of every Go program (package gopclntab)
// gives functions, files, lines and inlined calls. GDB spells names and files the same way. A
// [Source] can read other formats.
//
// [Symbolizer.TailCalls] says which functions have left by a tail call, by the call sites in DWARF.
// Package logical shows these, and inlined calls, as frames.
//
// A Symbolizer reads a module when somebody first asks for an address in it. It reads DWARF one
// compilation unit at a time, and inflates no more than that needs. It trusts nothing that it
// reads: .debug_aranges only says which unit to look at first.
//
// [frame.Frame.AddressInBlock]: https://pkg.go.dev/github.com/sfwalk/sfwalk/frame#Frame.AddressInBlock
package symbol
