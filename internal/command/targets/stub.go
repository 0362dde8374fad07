package targets

import (
	"context"

	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/remote"
)

// Stub connects to a GDB remote Stub.
func Stub(ctx context.Context, addr string, opts remote.Options) (*report.Source, error) {
	t, err := remote.Dial(ctx, addr, opts)
	if err != nil {
		return nil, err
	}
	return &report.Source{
		Target:  t,
		Process: hosts.Process{PID: t.PID, Root: opts.Sysroot},
		Root:    opts.Sysroot,
		About: func(doc *report.Document) {
			doc.Remote, doc.PID, doc.Exe = addr, t.PID, t.Exe
			if t.StopSignal != 0 {
				doc.Signal = &report.Signal{Number: t.StopSignal, Name: t.StopName}
			}
		},
		Mark:     func(of target.Thread, th *report.Thread) { th.Stopped = of.(*remote.Thread).Current },
		Warnings: t.Warnings,
	}, nil
}
