// Package sbcl unwinds the code that SBCL (Steel Bank Common Lisp) has compiled.
//
// Each function has a frame record: the caller's frame pointer and the return address. The caller
// makes the record, and the callee puts the return address into it, so where the record is depends
// on the instruction. The processor's descriptor tells (arch.LanguageRules.SBCL). The run time's
// assembly routines are ordinary code, of which most have no record.
package sbcl
