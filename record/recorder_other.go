//go:build !linux

package record

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target/live"
)

// Recorder samples processes of this machine. On this system there is none.
type Recorder struct{}

// Start begins to sample. On this system it cannot: the error wraps [live.ErrUnsupported].
func Start(Options) (*Recorder, error) { return nil, fmt.Errorf("record: %w", live.ErrUnsupported) }

// Run samples until ctx is done, or the processes have ended.
func (r *Recorder) Run(context.Context) error { return live.ErrUnsupported }

// Stats says how the recording goes.
func (r *Recorder) Stats() Stats { return Stats{} }

// Profile returns what was recorded so far.
func (r *Recorder) Profile() *Profile { return nil }

// Take returns what was recorded since the last Take, and forgets it.
func (r *Recorder) Take() *Profile { return nil }

// Close ends the recording.
func (r *Recorder) Close() error { return nil }

// clock is the time on the clock of the events: there are none.
func clock() time.Duration { return 0 }

func ownVDSO() (*elf.Image, error) { return nil, live.ErrUnsupported }

func inode(os.FileInfo) (uint64, bool) { return 0, false }
