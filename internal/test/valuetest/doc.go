// Package valuetest writes programs in C and C++ that have variables of every type, in every kind
// of place: what a debugger prints of them tests how it reads debug information. A seed decides on
// all of a program, so that it can be had again.
package valuetest
