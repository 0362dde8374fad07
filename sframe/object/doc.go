// Package object finds SFrame in ELF files: linked ones, relocatable ones, whose
// relocations it applies, and those whose section headers are gone.
//
// In goes an [elfimage.Image] and a Layout, which says at what address each section is;
// out come the SFrame sections, opened. A relocatable object's sections all have
// the address 0 in the file (AsLinked, which is what readelf shows); Apart gives
// each its own, so that an address says which function is meant.
//
// The file is never trusted: memory is bounded by its size.
package object
