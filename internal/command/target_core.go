package command

import (
	"errors"
	"fmt"
	"os"

	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
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

func coreFile(path string, opts core.Options) (*source, error) {
	t, err := core.Open(path, opts)
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
			doc.Core, doc.PID, doc.Exe = path, t.PID, t.Exe
			if s := t.Signal; s != nil {
				doc.Signal = &sig{Number: s.Number, Name: s.Name, Code: s.CodeName, Sender: s.Sender}
				if s.HasAddr {
					doc.Signal.Address = new(address.At(s.Addr))
				}
			}
		},
		mark:      func(of target.Thread, th *thread) { th.Died = of.(*core.Thread).Died },
		warnings:  t.Warnings,
		oneMoment: func() bool { return true },
	}, nil
}
