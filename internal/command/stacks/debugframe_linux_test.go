package stacks_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A program has no .eh_frame; its debug information, with .debug_frame, is in a separate file.
func TestSeparateDebugFrame(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", "-g", "-O2", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables")
	p := gdbtest.Start(t, gdbtest.Separate(t, program))
	got := commandtest.Take(t, p.PID, &report.Flags{Choice: sniffers.Choice{Order: []string{"dwarf"}}})
	commandtest.CompareAll(t, got, gdbtest.Backtrace(t, p.PID))
}
