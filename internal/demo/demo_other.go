//go:build !linux || !(amd64 || arm64 || s390x)

package demo

import (
	"fmt"
	"runtime"
)

// A Process is the running demo target.
type Process struct {
	PID int // of the process, which is a child of this one
}

// Start returns ErrPlatform with this machine's platform.
func Start() (*Process, error) {
	return nil, fmt.Errorf("%w, this is %s/%s", ErrPlatform, runtime.GOOS, runtime.GOARCH)
}

// Stop does nothing.
func (p *Process) Stop() error { return nil }

// A Dead is a process that has died, as a core file.
type Dead struct{ Core, Exe string }

// Bury returns ErrPlatform with this machine's platform.
func Bury() (*Dead, error) {
	_, err := Start()
	return nil, err
}

// Remove does nothing.
func (d *Dead) Remove() error { return nil }
