// Package elfimage reads ELF images for whoever walks stacks: files, and what is mapped of them in
// a process's memory.
//
// In goes an [io.ReaderAt], a file's name, or the [Memory] of a process; out comes an [Image], which
// gives sections, segments, function symbols, linkage stubs and the build ID, each read when it is
// first asked for. Addresses are the file's own (link time). Of a file whose section headers are
// stripped or broken the segments still serve.
//
// Nothing in an image is trusted: what is read is bounded by what is there of the file, and what
// all images of one process expand to by a [Budget]. A [Cache] opens each file once.
//
// The package knows no process and no processor; package
// [github.com/sfwalk/sfwalk/target] says which image is mapped where.
package elfimage
