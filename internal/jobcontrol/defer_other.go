//go:build !linux

package jobcontrol

// Defer does nothing here: no threads are held but on Linux.
func Defer() (restore func()) { return func() {} }
