// Package jit finds the code that a process has made itself and registered with GDB's
// JIT interface (Debugging with GDB, chapter "JIT Compilation Interface"), as LLVM,
// qemu, V8, LuaJIT and others do.
//
// What enters is a target's memory and its modules: one or more of these have the
// symbol __jit_debug_descriptor, from which a list of ELF images in memory leads on.
// What leaves are modules like those of files ([target.Registered]), for unwinders and
// symbolizers that need know nothing of all this. Nothing is read before an address
// is looked up that such an object could hold, and of an object that nobody comes to
// only its headers.
package jit
