// Package luajit is the sniffer for LuaJIT: for its virtual machine, and for the traces that it has
// compiled.
//
// What enters: a frame. What leaves: a row. The table of the machine's file has one row for all of
// its code. Where a trace is left, that is wrong, and traces have no tables that say where their
// frames end. Both run in a frame of the machine, to which its state of Lua leads.
package luajit
