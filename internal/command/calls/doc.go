// Package calls has a thread that is held evaluate expressions, and prints their values: for the
// verb call, and for remote --call.
package calls
