// Package values has the flags that have a command print the values in frames, and reads them:
// arguments, local variables and expressions, as text and as parts of a document.
package values
