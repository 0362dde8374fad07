package targets

import (
	"context"

	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/remote"
)

// StubTarget is the target of a GDB remote stub as a source.
type StubTarget struct {
	*remote.Target
	report.Origin
	addr string // of the stub
}

// Stub connects to a GDB remote stub.
func Stub(ctx context.Context, addr string, opts remote.Options) (*StubTarget, error) {
	t, err := remote.Dial(ctx, addr, opts)
	if err != nil {
		return nil, err
	}
	origin := report.Origin{Process: hosts.Process{PID: t.PID, Root: opts.Sysroot}, Root: opts.Sysroot, FileFlags: FileFlags, ExeFlag: ExeFlag}
	return &StubTarget{t, origin, addr}, nil
}

// About implements [report.Source].
func (s *StubTarget) About(doc *report.Document) {
	doc.Remote, doc.PID, doc.Exe = s.addr, s.PID, s.Exe
	if s.StopSignal != 0 {
		doc.Signal = &report.Signal{Number: s.StopSignal, Name: s.StopName}
	}
}

// Mark implements [report.Marker].
func (s *StubTarget) Mark(of target.Thread, th *report.Thread) {
	th.Stopped = of.(*remote.Thread).Current
}
