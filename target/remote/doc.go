// Package remote makes a target of a process or machine that a GDB remote stub controls: gdbserver,
// lldb-server, qemu in user and system mode, OpenOCD, rr.
//
// It takes a connection to the stub, and the folder that has the target's files. It gives a
// [Target] with threads, registers, memory and modules. gdb's manual, appendix E ("GDB Remote
// Serial Protocol"), has the protocol. The package makes do without any feature that the stub does
// not offer.
//
// A stub is not trusted. Every answer has a deadline and a bound on its size. What the stub is told
// to write is read back. If the stub lies, stalls or hangs up, the error says so.
package remote
