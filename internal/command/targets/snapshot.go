package targets

import (
	"time"

	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Snapshot opens the file of a snapshot.
func Snapshot(path string, opts core.Options) (*report.Source, error) {
	t, err := snapshot.Open(path, opts)
	if err != nil {
		return nil, unpackError(err)
	}
	return &report.Source{
		Target:    t,
		InputSize: files.OnDisk(path),
		Process:   hosts.Process{PID: t.PID, Root: opts.Sysroot},
		Root:      opts.Sysroot,
		Opener:    t.OpenNamed,
		About: func(doc *report.Document) {
			pause := t.Pause.Microseconds()
			doc.Snapshot, doc.PID, doc.Exe, doc.PauseUS, doc.Consistent = path, t.PID, t.Exe, &pause, t.Consistent
			if !t.Taken.IsZero() {
				doc.Taken = t.Taken.UTC().Format(time.RFC3339Nano)
			}
		},
		Mark: func(of target.Thread, th *report.Thread) {
			x := of.(*snapshot.Thread)
			if x.Err != nil && th.Kernel == "" {
				th.Error, th.Whole, th.Detail = x.Err.Error(), false, x.Err.Error()
			}
		},
		Warnings:  t.Warnings,
		OneMoment: func() bool { return t.Consistent },
	}, nil
}
