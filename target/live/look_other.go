//go:build !linux

package live

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Look is Attach without threads. On this system it cannot: the error wraps [ErrUnsupported].
func Look(int) (*Target, error) { return nil, errNoHost }

// LookAgain is Look for the process of t.
func (t *Target) LookAgain() (*Target, error) { return nil, errNoHost }

// Present returns the process's memory as it is when it is read.
func (t *Target) Present() target.Memory { return t.memory }

// ProcDir is for Linux.
func (t *Target) ProcDir() string { return "" }

// Blocked is for Linux.
func (t *Target) Blocked(int) (c arch.SystemCall, sp uint64, function string, ok bool) {
	return c, 0, "", false
}

// Stopped is for Linux.
func (t *Target) Stopped() bool { return false }
