// Package minidump makes a target of a minidump: a crash report of Windows, Breakpad or Crashpad,
// of a process of any system, on any host.
//
// It gives a [Target] with the threads, the one that crashed first; the modules, each by the name
// and the identifier under which its symbols are found; and the memory that the dump has, which is
// little but the stacks. Code comes from the modules' own files, where the same files are at hand.
//
// Package [github.com/sfwalk/sfwalk/format/minidump] reads the format. Nothing in the dump is
// trusted.
package minidump
