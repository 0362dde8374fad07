// Package yjit unwinds the code that YJIT, Ruby's compiler (3.1 and later), has made.
//
// The code has no tables. Functions of C enter it by one call, behind which it saves three
// registers. Its methods call each other by jumps: however many of them run, they have that one
// frame on the C stack. Two registers always have the execution context and the control frame,
// which is on the context's own stack. That tells such code from all other.
package yjit
