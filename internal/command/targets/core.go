package targets

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/waits"
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

// FileFlags and ExeFlag are what a user gives who has the files of another machine's process.
const (
	FileFlags = "--sysroot DIR, the folder that stands for the root of their machine, or --exe FILE for the program"
	ExeFlag   = "--exe FILE"
)

// CoreFile is a core file as a source.
type CoreFile struct {
	*core.Target
	report.Origin
	Name  string // of the file, as the user has given it
	calls waits.Calls
}

// Core opens a core file.
func Core(path string, opts core.Options) (*CoreFile, error) {
	t, err := core.Open(path, opts)
	if err != nil {
		return nil, unpackError(err)
	}
	return &CoreFile{t, fileOrigin(path, t, opts), path, waits.Calls{Target: t}}, nil
}

// fileOrigin returns the origin of a core file or a snapshot.
func fileOrigin(path string, t *core.Target, opts core.Options) report.Origin {
	return report.Origin{
		Process: hosts.Process{PID: t.PID, Root: opts.Sysroot},
		Root:    opts.Sysroot, InputSize: files.OnDisk(path), Opener: t.OpenNamed,
		FileFlags: FileFlags, ExeFlag: ExeFlag,
	}
}

// About implements [report.Source].
func (c *CoreFile) About(doc *report.Document) {
	doc.Core, doc.PID, doc.Exe = c.Name, c.PID, c.Exe
	threads, _ := c.Threads()
	doc.Died = slices.ContainsFunc(threads, func(th target.Thread) bool { return th.(*core.Thread).Died })
	if s := c.Signal; s != nil {
		doc.Signal = report.NewSignal(s)
	}
}

// Mark implements [report.Marker].
func (c *CoreFile) Mark(of target.Thread, th *report.Thread) { th.Died = of.(*core.Thread).Died }

// OneMoment implements [report.Momentary]: the process was dead.
func (c *CoreFile) OneMoment() bool { return true }

// Wait implements [report.Waiter]: registers tell the call and the number of the file.
func (c *CoreFile) Wait(th target.Thread) *waits.Entry { return c.calls.Of(th, false) }
