// Package mono decorates stacks of Mono's run time: which methods the code is of that Mono has
// compiled while the program ran. Code of images that were compiled before (AOT) has symbols of its
// own.
//
// Where Mono's records have what is needed its own exported functions tell, which read one field
// each, by their code.
package mono
