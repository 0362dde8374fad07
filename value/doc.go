// Package value reads the arguments and the local variables of frames, by the DWARF of their code.
//
// In goes a logical.Frame, with the symbol.Symbolizer that has the debug information of its module.
// Out come Variables: each with its name, its Type, and its Value, which is read when it is asked
// for. A Value has its bytes, where they lie, which of them are not known and why, and children:
// members, elements, what a pointer points to.
//
// A Printer writes values as GDB does: bounded in elements, characters and depth. Unless it is Raw,
// it writes the strings and containers of libraries as their users know them: of C++ as libstdc++'s
// printers for GDB do, and libc++'s in the same words, of Rust as rustc's printers do. A value of
// Go is written as Delve's print writes it in one line: with its type, pointers followed, and at
// most two structs deep; a variable that the compiler has put on the heap as if it were not there.
//
// Nothing is guessed. A variable that the compiler keeps nowhere is "optimized out"; one whose
// register or memory is not known is "unavailable", and Value.Err says why. Debug information and
// the memory of the process may be broken or hostile: types, loops of pointers and sizes are
// bounded.
package value
