// Package remote makes a target of what a GDB remote stub controls: gdbserver,
// qemu in user and system mode, OpenOCD, rr.
//
// What enters: a connection to the stub, and where the target's files are. What
// leaves: a [Target] with threads, registers, memory and modules. The protocol
// is that of gdb's manual, appendix E ("GDB Remote Serial Protocol"); what a
// stub does not offer is done without.
//
// A stub is not trusted: every answer has a deadline and a bound on its size,
// and one that lies, stalls or hangs up gives an error that says so.
package remote
