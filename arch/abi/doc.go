// Package abi has the words for calling conventions: the types of a function's parameters and its
// result, and where a call has them.
//
// What enters: a [Func], its arguments as the bytes that they have in memory, the SP of the thread
// that shall make the call. What leaves: registers and a piece of stack to write ([Call]), and
// where the result is when the function has returned ([Return]). No process is touched here.
//
// Each processor's package has its [Convention], GDB's push_dummy_call and return_value, as a field
// of the descriptor arch.Arch. The types know no language: whoever reads debug information
// makes them, and converts arguments to the types of the parameters.
package abi
