//go:build !linux

package demo

// A Process is the running demo target.
type Process struct {
	PID int // of the process, which is a child of this one
}

// Start returns ErrPlatform with this machine's platform.
func Start() (*Process, error) { return nil, platformError() }

// Stop does nothing.
func (p *Process) Stop() error { return nil }
