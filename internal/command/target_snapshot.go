package command

import (
	"time"

	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

func snapshotFile(path string, opts core.Options) (*source, error) {
	t, err := snapshot.Open(path, opts)
	if err != nil {
		return nil, unpackError(err)
	}
	return &source{
		Target:  t,
		input:   files.OnDisk(path),
		process: hosts.Process{PID: t.PID, Root: opts.Sysroot},
		root:    opts.Sysroot,
		named:   t.OpenNamed,
		about: func(doc *document) {
			pause := t.Pause.Microseconds()
			doc.Snapshot, doc.PID, doc.Exe, doc.PauseUS, doc.Consistent = path, t.PID, t.Exe, &pause, t.Consistent
			if !t.Taken.IsZero() {
				doc.Taken = t.Taken.UTC().Format(time.RFC3339Nano)
			}
		},
		mark: func(of target.Thread, th *thread) {
			x := of.(*snapshot.Thread)
			if x.Err != nil && th.Kernel == "" {
				th.Error, th.whole, th.detail = x.Err.Error(), false, x.Err.Error()
			}
		},
		warnings:  t.Warnings,
		oneMoment: func() bool { return t.Consistent },
	}, nil
}
