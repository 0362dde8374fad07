// Package zend unwinds the code that PHP's compiler, opcache's JIT, has made.
//
// The code is in the memory that processes with opcache share, which the system calls by the name
// of a file. The code has no frames of its own. The interpreter, execute_ex, jumps to it and it
// jumps back, so it runs in the frame of execute_ex, whose rows the interpreter's file has. Where
// the code takes more of the stack for a while, the frame is found by its return address: it leads
// behind a call in one of the few functions that call execute_ex.
package zend
