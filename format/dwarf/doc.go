// Package dwarf reads the parts that DWARF's sections are made of (DWARF 5, section 7): numbers and
// strings, in debug information and in call frame information.
//
// Nothing here opens a file or keeps a section. A caller has the bytes, and a [Reader] reads them in
// place. The caller bounds what it keeps of them.
package dwarf
