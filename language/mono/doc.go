// Package mono decorates stacks of Mono's run time: code that Mono has compiled, while the program
// ran or before (AOT), gets the names of its methods, and their files and lines.
//
// Some functions that Mono exports read one field each. Their code tells where Mono's records have
// what is needed.
package mono
