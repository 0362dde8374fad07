// Package luajit finds the states of LuaJIT 2.1, and the C frames of its virtual machine: for the
// sniffer, and for the language's frames.
//
// The virtual machine is one piece of code in assembly. It runs functions of Lua in one frame of
// the C stack, of a size that never changes, until one of them calls C. That frame leads to the
// state of Lua, and the state to the frame: so each can be told from other memory. Compiled code,
// the traces, runs in the same frame; the stack pointer is then inward of it.
package luajit
