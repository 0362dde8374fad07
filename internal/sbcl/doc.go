// Package sbcl knows where the run time of SBCL (Steel Bank Common Lisp) has its code: the spaces
// of its heap, and the code objects in them.
//
// The run time exports its variables to debuggers. Releases do not say how their objects are laid
// out. So a code object is found by what it holds: a header with a size, and a pointer to an
// instance of a structure, both of which agree with the address that is looked up.
package sbcl
