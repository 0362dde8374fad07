// Package expr evaluates DWARF expressions and location descriptions (DWARF 5, section 2.5 and
// 2.6), with GNU's operations that came before DWARF 5.
//
// An [Expression] is the bytes, and the sizes of its unit. A [Context] has what the expression may
// ask for: registers, memory, the CFA, the frame base, the unit's addresses. What the context does
// not have makes the evaluation fail with [ErrUnavailable], and nothing is guessed.
//
// [Expression.Locate] returns where an object is: in memory, in a register, nowhere but with a
// known value, in pieces, or optimized out. [Expression.Value] returns a number, such as the base
// of a frame.
//
// A [Rule] is an expression of call frame information, which has no types and describes no
// location. [Rule.Eval] computes its number from registers and memory alone.
//
// Expressions come from files that nobody trusts: the operations, the stack and the nesting
// are bounded.
package expr
