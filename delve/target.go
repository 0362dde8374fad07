//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
)

// Target is a process or a core file that Delve controls. It serves one goroutine at a
// time, as Delve does.
type Target struct {
	Proc  *proc.Target
	Table *frame.Table // asked for every stack; the caller may add sniffers
}

// NewTarget makes a target of what Delve controls. The error says which architecture
// or system is not known.
func NewTarget(t *proc.Target) (*Target, error) { return nil, errors.ErrUnsupported }

// Refresh forgets what may have changed because the process has run: memory, threads,
// goroutines, and the modules where libraries have come or gone. Rows stay as long as
// their modules do.
func (t *Target) Refresh() error { return nil }

func (t *Target) Arch() *arch.Arch                  { return nil }
func (t *Target) Memory() target.Memory             { return nil }
func (t *Target) Threads() ([]target.Thread, error) { return nil, nil }
func (t *Target) Modules() *target.Modules          { return nil }

// Close lets go of the files that were opened. Delve keeps the process.
func (t *Target) Close() error { return nil }
