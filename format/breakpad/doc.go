// Package breakpad reads and writes Breakpad's symbol files: text files that have the functions,
// source lines, inlined calls and stack rules of one executable or library, apart from the file
// itself. Breakpad, Crashpad, Firefox, Chromium, Electron and Sentry make them for the programs
// that they release.
//
// Records. A line of a symbol file is a [Record]. [ParseRecord] reads one, [Records] a whole file
// in its order, and AppendText of each type writes it again. The types are the record types of the
// specification (Breakpad, docs/symbol_files.md) and what dump_syms has added to it: INFO,
// INLINE_ORIGIN, INLINE, the m of FUNC and PUBLIC. A line of no known type is an [Unknown], and is
// kept.
//
// Look-ups. [New] goes once through a file, with all processors, and keeps where each function and
// stack rule is, 32 bytes for each. The records of a function are parsed when somebody asks for
// them: [File.Func], [File.Locate], [File.CFI], [File.Win]. The file is read and not mapped: one
// that somebody truncates meanwhile costs an error and not the process.
//
// Addresses are relative to where the module is loaded. Nothing that is read is trusted: a
// malformed line is left out with a warning that has its number ([LineError]), and memory is
// bounded by the size of the input.
//
// The package depends only on the standard library.
package breakpad
