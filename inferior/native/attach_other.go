//go:build !linux

package native

import (
	"context"
	"fmt"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/target/live"
)

// Attach holds threads of a process. On this system it cannot: the error wraps
// [live.ErrUnsupported].
func Attach(_ context.Context, pid int, _ Options) (inferior.Process, error) {
	return nil, fmt.Errorf("attach %d: %w", pid, live.ErrUnsupported)
}
