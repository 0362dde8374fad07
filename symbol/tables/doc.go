// Package tables has names of functions, and lines, from other files than ELF files: each type is a
// [symbol.Source], for [symbol.Options]. Choose [PE] for crash reports of Windows, [Breakpad] if
// there is a folder of symbol files.
package tables
