//go:build !linux

package coredumps

import (
	"os"
	"strconv"
)

func openCore(path string) (*os.File, error) { return os.Open(path) }

// attribute returns "": the files' names have to do.
func attribute(*os.File, string) string { return "" }

// SignalName returns the number of a signal.
func SignalName(n int) string { return strconv.Itoa(n) }
