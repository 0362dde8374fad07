// Package ecma335 reads the metadata of .NET's assemblies (ECMA-335, partition II), and portable
// PDBs, which have the same form: names of types and methods, and which source lines their code is
// of.
//
// In go the bytes of an assembly or of a file, wherever they are: only what is asked for is read.
// They may be anything: what cannot be read is empty, and each loop has a bound.
package ecma335
