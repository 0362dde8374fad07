// Package abidwarf makes the types of package abi from DWARF's debug information.
//
// What enters: a file's [dwarf.Data] and the offset of an entry in it. What leaves: the type of a
// function, or of a value, as calling conventions want it. DWARF does not say all: that a struct is
// packed shows in its layout only, and which of amd64's types of 16 bytes is the x87's only by its
// name.
package abidwarf
