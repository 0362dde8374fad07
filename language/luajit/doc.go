// Package luajit knows the frames of functions of Lua that LuaJIT 2.1 runs, also in traces, the
// code that its compiler has made.
//
// What enters: a process, in which the package finds LuaJIT by a symbol, and then stacks. What
// leaves: functions of Lua and of C that Lua has called, each in the place of the physical frame of
// LuaJIT's virtual machine in which it runs.
//
// A frame of the machine leads to its state of Lua (package internal/luajit). The state's own stack
// has the calls, each with the return address of the call before. Where the innermost function is,
// registers of the machine tell. In a trace, some functions are called in compiled code alone, and
// are not on the stack of Lua: the trace has noted, for each of its ways out, what the stack is
// there.
package luajit
