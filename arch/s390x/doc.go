// Package s390x describes IBM z/Architecture in 64-bit mode with the ELF ABI
// supplement for s390x, as Linux runs it: registers, stack rules, reading
// prologues and epilogues from machine code, and the trampolines of sigreturn
// and rt_sigreturn. It is big-endian whatever the host is.
//
// Import it to make the descriptor known to package arch.
package s390x
