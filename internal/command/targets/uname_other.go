//go:build !linux

package targets

// uname is Linux's alone: elsewhere no process is attached to.
func uname() string { return "" }
