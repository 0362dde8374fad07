//go:build !linux

package call

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/calls"
	"github.com/sfwalk/sfwalk/target/live"
)

func call(_ *cobra.Command, pid int, _ []string, _ *calls.Flags) error {
	return fmt.Errorf("call %d: %w", pid, live.ErrUnsupported)
}
