//go:build !linux

package goroutines

// monotonic returns the time by the clock of Go's runtime, ns; 0 if it is not known.
func monotonic() int64 { return 0 }
