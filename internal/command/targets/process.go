package targets

import (
	"context"
	"errors"
	"sync"

	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/internal/descriptors"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// DeferStops has Ctrl-Z wait until no thread is held.
var DeferStops = sync.OnceFunc(func() { live.DeferStops() })

// LiveProcess is a live process as a source.
type LiveProcess struct {
	*live.Target
	report.Origin
	calls waits.Calls
}

// Process reads a live process.
func Process(ctx context.Context, pid int, opts live.Options) (*LiveProcess, error) {
	DeferStops()
	t, err := live.Attach(ctx, pid, opts)
	if err != nil {
		return nil, err
	}
	// A container's debug files are looked for in its own root, then in the host's.
	root := procdir.File(pid, "root")
	return &LiveProcess{Target: t, Origin: report.Origin{
		Process: hosts.Process{PID: pid, Live: true, Root: root},
		Root:    root, InputSize: procdir.Resident(pid), Opener: t.OpenNamed,
	}, calls: waits.Calls{Target: t, Live: t, Files: descriptors.New(pid, t.ProcDir())}}, nil
}

// About implements [report.Source].
func (p *LiveProcess) About(doc *report.Document) {
	pause := p.Pause
	threads, _ := p.Threads()
	for _, th := range threads {
		pause = max(pause, th.(*live.Thread).Held) // includes threads that were read once more
	}
	us := pause.Microseconds()
	if p.Stopped() {
		doc.State = "stopped"
	}
	doc.PID, doc.Exe, doc.PauseUS, doc.Consistent = p.PID, p.Exe, &us, p.Consistent
}

// Mark implements [report.Marker].
func (p *LiveProcess) Mark(of target.Thread, th *report.Thread) {
	x := of.(*live.Thread)
	held := x.Held.Microseconds()
	th.HeldUS = &held
	if err := x.Err; err != nil && th.Kernel == "" {
		// The thread did not stop. Its frames come from the PC and SP that the kernel shows
		// of a sleeping thread.
		th.Error, th.Whole, th.Detail = err.Error(), false, err.Error()
	}
}

// LetGo implements [report.Releaser].
func (p *LiveProcess) LetGo(th target.Thread) { th.(*live.Thread).DropCopies() }

// OneMoment implements [report.Momentary].
func (p *LiveProcess) OneMoment() bool { return p.Consistent }

// OwnThreads implements [report.Container].
func (p *LiveProcess) OwnThreads() map[int]int { return ownThreads(p.PID) }

// Wait implements [report.Waiter].
func (p *LiveProcess) Wait(of target.Thread) *waits.Entry {
	th := of.(*live.Thread)
	return p.calls.Of(th, errors.Is(th.Err, live.ErrNotStopped))
}

// Close implements [target.Target].
func (p *LiveProcess) Close() error {
	p.calls.Files.Close()
	return p.Target.Close()
}

// AddWaits adds to a snapshot of the process for what its threads wait.
func (p *LiveProcess) AddWaits(to *snapshot.Snapshot) {
	threads, _ := p.Threads()
	byID := map[int]target.Thread{}
	for _, th := range threads {
		byID[th.ID()] = th
	}
	for i := range to.Threads {
		if th := byID[to.Threads[i].TID]; th != nil {
			to.Threads[i].Waits = waits.Saved(p.Wait(th))
		}
	}
}
