// Package kinds tells by its contents what a file is, and which verb reads it. A path goes in, a
// [Kind] comes out. The file's name counts for nothing.
//
// The command has it choose a verb for a file that is given without one, and the verbs have it say
// what a file is that they cannot read.
package kinds
