// Package arm64 describes the AArch64 architecture with the AAPCS64 ABI, as
// little-endian Linux runs it: registers, stack rules, pointer authentication,
// reading prologues and epilogues from machine code, and the rt_sigreturn
// trampoline.
//
// Import it to make the descriptor known to package arch.
package arm64
