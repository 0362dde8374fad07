package targets

import (
	"time"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// SnapshotFile is a snapshot as a source.
type SnapshotFile struct {
	*snapshot.Target
	report.Origin
	Name  string // of the file, as the user has given it
	calls waits.Calls
}

// Snapshot opens the file of a snapshot.
func Snapshot(path string, opts core.Options) (*SnapshotFile, error) {
	t, err := snapshot.Open(path, opts)
	if err != nil {
		return nil, unpackError(err)
	}
	return &SnapshotFile{t, fileOrigin(path, t.Target, opts), path, waits.Calls{Target: t}}, nil
}

// About implements [report.Source].
func (s *SnapshotFile) About(doc *report.Document) {
	pause := s.Pause.Microseconds()
	doc.Snapshot, doc.PID, doc.Exe, doc.PauseUS, doc.Consistent = s.Name, s.PID, s.Exe, &pause, s.Consistent
	if !s.Taken.IsZero() {
		doc.Taken = s.Taken.UTC().Format(time.RFC3339Nano)
	}
}

// Mark implements [report.Marker].
func (s *SnapshotFile) Mark(of target.Thread, th *report.Thread) {
	x := of.(*snapshot.Thread)
	if x.Err != nil && th.Kernel == "" {
		th.Error, th.Whole, th.Detail = x.Err.Error(), false, x.Err.Error()
	}
}

// Languages implements [report.Decorated].
func (s *SnapshotFile) Languages(of target.Thread) []byte { return of.(*snapshot.Thread).Languages }

// Tasks implements [report.TaskSaver].
func (s *SnapshotFile) Tasks() []byte { return s.Target.Tasks }

// OneMoment implements [report.Momentary].
func (s *SnapshotFile) OneMoment() bool { return s.Consistent }

// Clock implements [goroutines.Clocked].
func (s *SnapshotFile) Clock() time.Duration { return s.Monotonic }

// Wait implements [report.Waiter]: by what was known then, or else by the registers.
func (s *SnapshotFile) Wait(of target.Thread) *waits.Entry {
	th := of.(*snapshot.Thread)
	if e := waits.OfSaved(th.Waits); e != nil {
		return e
	}
	return s.calls.Of(th, false)
}
