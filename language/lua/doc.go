// Package lua knows the frames of Lua's functions.
//
// What enters: a process, in which the package finds Lua's interpreter by a symbol, and then
// stacks. What leaves: functions of Lua and of C that Lua has called, each in the place of the
// physical frame that runs it, across coroutines.
//
// Lua has no variable that leads to its states. Its functions have the state's address in a
// register or on the stack: a value there is taken for a state if the state's structures lead
// back to it. A state lists its calls. A call of C has the address of its function, at which a
// physical frame begins. Calls of Lua belong to the frames of the function that executes Lua's
// code, which is the largest one; a call says whether it began such a frame. Coroutines that wait
// are among the garbage collector's objects, to which a main state leads; that is searched for.
package lua
