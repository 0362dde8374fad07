package command

import (
	"context"
	"sync"

	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// deferStops has Ctrl-Z wait until no thread is held.
var deferStops = sync.OnceFunc(func() { live.DeferStops() })

// process reads a live process, and returns it as a source.
func process(ctx context.Context, pid int, opts live.Options) (*source, error) {
	deferStops()
	t, err := live.Attach(ctx, pid, opts)
	if err != nil {
		return nil, err
	}
	var retake func(walk func()) error
	if t.Consistent {
		retake = t.Retake
	}
	return &source{
		Target:     t,
		retake:     retake,
		oneMoment:  func() bool { return t.Consistent },
		ownThreads: func() map[int]int { return ownThreads(pid) },
		process:    hosts.Process{PID: pid, Live: true, Root: procdir.File(pid, "root")},
		// A container's debug files are looked for in its own root, then in the host's.
		root:  procdir.File(pid, "root"),
		input: procdir.Resident(pid),
		named: t.OpenNamed,
		about: func(doc *document) {
			pause := t.Pause
			threads, _ := t.Threads()
			for _, th := range threads {
				pause = max(pause, th.(*live.Thread).Held) // includes threads that were read once more
			}
			us := pause.Microseconds()
			doc.PID, doc.Exe, doc.PauseUS, doc.Consistent = pid, t.Exe, &us, t.Consistent
		},
		mark: func(of target.Thread, th *thread) {
			x := of.(*live.Thread)
			held := x.Held.Microseconds()
			th.HeldUS = &held
			if err := x.Err; err != nil && th.Kernel == "" {
				// The thread did not stop. Its frames come from the PC and SP that the kernel shows
				// of a sleeping thread.
				th.Error, th.whole, th.detail = err.Error(), false, err.Error()
			}
		},
		letGo:    func(th target.Thread) { th.(*live.Thread).DropCopies() },
		warnings: t.Warnings,
	}, nil
}
