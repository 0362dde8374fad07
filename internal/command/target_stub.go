package command

import (
	"context"

	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/remote"
)

// stub connects to a GDB remote stub.
func stub(ctx context.Context, addr string, opts remote.Options) (*source, error) {
	t, err := remote.Dial(ctx, addr, opts)
	if err != nil {
		return nil, err
	}
	return &source{
		Target:  t,
		process: hosts.Process{PID: t.PID, Root: opts.Sysroot},
		root:    opts.Sysroot,
		about: func(doc *document) {
			doc.Remote, doc.PID, doc.Exe = addr, t.PID, t.Exe
			if t.StopSignal != 0 {
				doc.Signal = &sig{Number: t.StopSignal, Name: t.StopName}
			}
		},
		mark:     func(of target.Thread, th *thread) { th.Stopped = of.(*remote.Thread).Current },
		warnings: t.Warnings,
	}, nil
}
