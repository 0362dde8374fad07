//go:build !linux

package record

import (
	"context"
	"fmt"
	"os"

	"github.com/sfwalk/sfwalk/target/live"
)

// Recorder samples processes of this machine. On this system there is none.
type Recorder struct{}

// Start begins to sample. On this system it cannot: the error wraps [live.ErrUnsupported].
func Start(Options) (*Recorder, error) { return nil, fmt.Errorf("record: %w", live.ErrUnsupported) }

// Run samples until ctx is done, or the processes have ended.
func (r *Recorder) Run(context.Context) error { return live.ErrUnsupported }

// Profile returns what was recorded so far.
func (r *Recorder) Profile() *Profile { return nil }

// Close ends the recording.
func (r *Recorder) Close() error { return nil }

func openPerfMap(int) (*os.File, error) { return nil, live.ErrUnsupported }
