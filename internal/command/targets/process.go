package targets

import (
	"context"
	"sync"

	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// DeferStops has Ctrl-Z wait until no thread is held.
var DeferStops = sync.OnceFunc(func() { live.DeferStops() })

// Process reads a live Process, and returns it as a source.
func Process(ctx context.Context, pid int, opts live.Options) (*report.Source, error) {
	DeferStops()
	t, err := live.Attach(ctx, pid, opts)
	if err != nil {
		return nil, err
	}
	var retake func(walk func()) error
	if t.Consistent {
		retake = t.Retake
	}
	return &report.Source{
		Target:     t,
		Retake:     retake,
		OneMoment:  func() bool { return t.Consistent },
		OwnThreads: func() map[int]int { return ownThreads(pid) },
		Process:    hosts.Process{PID: pid, Live: true, Root: procdir.File(pid, "root")},
		// A container's debug files are looked for in its own root, then in the host's.
		Root:      procdir.File(pid, "root"),
		InputSize: procdir.Resident(pid),
		Opener:    t.OpenNamed,
		About: func(doc *report.Document) {
			pause := t.Pause
			threads, _ := t.Threads()
			for _, th := range threads {
				pause = max(pause, th.(*live.Thread).Held) // includes threads that were read once more
			}
			us := pause.Microseconds()
			doc.PID, doc.Exe, doc.PauseUS, doc.Consistent = pid, t.Exe, &us, t.Consistent
		},
		Mark: func(of target.Thread, th *report.Thread) {
			x := of.(*live.Thread)
			held := x.Held.Microseconds()
			th.HeldUS = &held
			if err := x.Err; err != nil && th.Kernel == "" {
				// The thread did not stop. Its frames come from the PC and SP that the kernel shows
				// of a sleeping thread.
				th.Error, th.Whole, th.Detail = err.Error(), false, err.Error()
			}
		},
		LetGo:    func(th target.Thread) { th.(*live.Thread).DropCopies() },
		Warnings: t.Warnings,
	}, nil
}
