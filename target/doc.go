// Package target says where registers and memory come from.
//
// A [Target] is one process, live or dead: its [Thread]s give registers, its
// [Memory] gives bytes, and its [Modules] say which file is mapped where. The
// packages below this one make targets (a live process, a core file, a remote
// stub); a debugger that embeds the engine implements the three interfaces
// itself.
//
// A [Module] is one mapped file, with code of the file that the process has copied to memory of no
// file, or an object of code that the process has registered. Its image
// ([github.com/sfwalk/sfwalk/format/elf]) is opened when first needed and gives sections, segments
// and function symbols; nothing in it is trusted.
package target
