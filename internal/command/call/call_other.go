//go:build !linux

package call

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/calls"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/target/live"
)

// callingSource returns nil: nothing is called here.
func callingSource(context.Context, int, *report.Flags) (*report.Source, error) { return nil, nil }

func call(_ *cobra.Command, pid int, _ []string, _ *calls.Flags) error {
	return fmt.Errorf("call %d: %w", pid, live.ErrUnsupported)
}
