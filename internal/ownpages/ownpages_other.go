//go:build !linux

package ownpages

// Release does nothing here.
func Release() {}
