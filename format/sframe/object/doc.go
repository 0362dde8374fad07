// Package object finds SFrame in ELF files: linked ones, relocatable ones, whose relocations it
// applies, and ones whose section headers are gone.
//
// [Sections] takes an [elfimage.Image] and a [Layout], which has the address of each section, and
// returns the opened SFrame sections. In the file all sections of a relocatable object have the
// address 0 ([AsLinked]); readelf shows them so. [Apart] gives each its own address, so that an
// address tells the function.
//
// The file is never trusted: its size bounds the memory.
package object
