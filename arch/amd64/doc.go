// Package amd64 describes the x86-64 architecture with the System V ABI, as
// Linux runs it: registers, stack rules, reading prologues and epilogues from
// machine code, and the rt_sigreturn trampoline.
//
// Import it to make the descriptor known to package arch.
package amd64
