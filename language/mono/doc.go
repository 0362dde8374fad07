// Package mono decorates stacks of Mono's run time: code that Mono has compiled while the program
// ran gets the names of its methods. Code that was compiled before (AOT) has symbols of its own.
//
// Some functions that Mono exports read one field each. Their code tells where Mono's records have
// what is needed.
package mono
