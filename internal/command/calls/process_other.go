//go:build !linux

package calls

import (
	"context"

	"github.com/sfwalk/sfwalk/internal/command/report"
)

// Calls returns "": nothing is called here.
func Calls(int, *report.Flags) (string, error) { return "", nil }

// HoldForPrint returns nil: nothing is called here.
func HoldForPrint(context.Context, int, *report.Flags) (report.Source, error) { return nil, nil }
