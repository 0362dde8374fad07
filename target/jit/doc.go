// Package jit finds the code that a process has made itself and registered with GDB's JIT interface
// (Debugging with GDB, chapter "JIT Compilation Interface"), as LLVM, qemu, V8, LuaJIT and others
// do.
//
// It takes a target's memory and modules. One or more of the modules have the symbol
// __jit_debug_descriptor, where a list of ELF images in memory begins. It gives modules like the
// modules of files ([target.Registered]), so that unwinders and symbolizers need not tell them
// apart. It reads nothing before somebody looks up an address that such an object could hold. Until
// somebody comes to an object, it reads only the object's headers.
package jit
