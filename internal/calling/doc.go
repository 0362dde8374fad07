// Package calling evaluates expressions that call functions of a process, as GDB's command call does.
//
// An expression (package expression) and an inferior go in; the value comes out, after the process has
// made the calls. Functions are found by name in the symbol tables of all modules. DWARF, where there is some, tells
// the types of parameters and results; arguments are converted to them as C does. Package value reads what is no
// call by it: variables of the thread's frames, members, elements, and which method an object has. Without DWARF,
// numbers are passed as they are written, and the result is what the expression casts it to, or an int.
package calling
