// Package short makes stacks of C++ and Rust shorter to read: names of functions with fewer
// template arguments, and no frames of the standard library's own plumbing.
//
// What enters: names as they are printed in full, source files, and modules. What leaves: shorter
// names ([Names.Of]), and whether a frame is hidden ([Hides]).
package short
