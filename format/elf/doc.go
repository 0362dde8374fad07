// Package elf reads ELF images, for stack walkers: files, and the parts of files that are mapped
// in a process's memory.
//
// It makes an [Image] of an [io.ReaderAt], a file's name, or the [Memory] of a process. An Image
// gives sections, segments, function symbols, linkage stubs and the build ID. It reads each when it
// is first asked for; of a large table, the pages that a look-up needs ([Image.Pages]). It reads
// symbol tables part by part, keeps where functions begin, and finds names by the GNU hash table,
// or by an index. Addresses are the file's own (link time). If the section headers of a file are
// stripped or broken, its segments still serve.
//
// The package trusts nothing in an image. It reads no more than the file has bytes on disk, and a
// [Budget] bounds what all images of one process expand to. A [Cache] opens each file once.
//
// The package knows no process and no processor; package
// [github.com/sfwalk/sfwalk/target] says which image is mapped where.
package elf
