// Package arch is the room of everything that depends on the processor, GDB's
// gdbarch: one [Arch] descriptor for each architecture, and [Registers], the
// register file of one thread.
//
// What enters: code bytes, stack addresses, register values. What leaves: names
// and numbers of registers (DWARF's), stack rules (direction, alignment, red
// zone, the registers that a call preserves), rows read from machine code, and
// the shape of the operating system's signal trampoline. A descriptor is
// constant data plus a few functions, shared by all threads and goroutines.
//
// Each descriptor is a package below this one and makes itself known here with
// [Register] when it is imported.
package arch
