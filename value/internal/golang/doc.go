// Package golang writes Go's values as Delve's print does in one line: with their type, pointers
// followed, and at most two structs deep. Raw values it writes as GDB does.
package golang
