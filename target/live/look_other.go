//go:build !linux

package live

import "github.com/sfwalk/sfwalk/target"

// Look is Attach without threads. On this system it cannot: the error wraps [ErrUnsupported].
func Look(int) (*Target, error) { return nil, errNoHost }

// LookAgain is Look for the process of t.
func (t *Target) LookAgain() (*Target, error) { return nil, errNoHost }

// Present returns the process's memory as it is when it is read.
func (t *Target) Present() target.Memory { return t.memory }
