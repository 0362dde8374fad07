//go:build !linux

package perfmap

import (
	"errors"
	"os"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// OpenOf fails: no process of this system has a perf map.
func OpenOf(int) (*os.File, error) { return nil, errors.ErrUnsupported }

// OpenOwned opens a file. On this system nobody knows whose it is.
func OpenOwned(at regular.At, _ int, open func(root, path string) (*os.File, error)) (*os.File, error) {
	return open(at.Root, at.Path)
}
