package targets

import (
	"errors"
	"fmt"
	"os"

	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
)

// unpackError adds to err the flag that allows more to be unpacked.
func unpackError(err error) error {
	if errors.Is(err, core.ErrTooLarge) {
		return fmt.Errorf("%w: allow more by --max-unpacked SIZE, if there is room for it in %s", err, os.TempDir())
	}
	return err
}

// Core opens a core file.
func Core(path string, opts core.Options) (*report.Source, error) {
	t, err := core.Open(path, opts)
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
			doc.Core, doc.PID, doc.Exe = path, t.PID, t.Exe
			if s := t.Signal; s != nil {
				doc.Signal = &report.Signal{Number: s.Number, Name: s.Name, Code: s.CodeName, Sender: s.Sender}
				if s.HasAddr {
					doc.Signal.Address = new(address.At(s.Addr))
				}
			}
		},
		Mark:      func(of target.Thread, th *report.Thread) { th.Died = of.(*core.Thread).Died },
		Warnings:  t.Warnings,
		OneMoment: func() bool { return true },
	}, nil
}
