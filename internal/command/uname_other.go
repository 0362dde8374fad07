//go:build !linux

package command

// uname is Linux's alone: elsewhere no process is attached to.
func uname() string { return "" }
