package calls

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/calling"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/procdir"
)

// Calls returns the first expression of --print that calls a function of a process; "" if none
// does.
func Calls(pid int, flags *report.Flags) (text string, err error) {
	if !slices.ContainsFunc(flags.Values.Prints, calling.MayCall) {
		return "", nil
	}
	p, err := native.Open(pid)
	if err != nil {
		return "", err
	}
	caller := &calling.Caller{Process: p, Exe: p.Exe}
	if i := slices.IndexFunc(flags.Values.Prints, caller.Calls); i >= 0 {
		text = flags.Values.Prints[i]
	}
	return text, p.Close()
}

// HoldForPrint returns a process that is held, if expressions of --print call functions of it; nil
// if none does.
func HoldForPrint(ctx context.Context, pid int, flags *report.Flags) (report.Source, error) {
	if !slices.ContainsFunc(flags.Values.Prints, calling.MayCall) {
		return nil, nil
	}
	targets.DeferStops()
	p, err := native.Open(pid)
	if err != nil {
		return nil, err
	}
	c := &Callee{Process: p, Source: ProcessSource(p), Name: fmt.Sprintf("attach %d", pid), Exe: p.Exe}
	c.Auxv, _ = os.ReadFile(procdir.File(pid, "auxv"))
	if !c.InFrames(ctx, flags.Values.Prints) {
		return nil, p.Close()
	}
	if err := p.Hold(ctx, native.Options{Threads: flags.TIDs}); err != nil {
		return nil, err
	}
	return c.Source, nil
}

// heldProcess is a process of this machine that is held, as a source.
type heldProcess struct {
	*native.Process
	report.Origin
}

// ProcessSource makes what the other commands print of a process that is held.
func ProcessSource(p *native.Process) report.Source {
	return &heldProcess{p, report.Origin{
		Process: hosts.Process{PID: p.PID}, Root: procdir.File(p.PID, "root"), Opener: p.OpenNamed,
	}}
}

// About implements [report.Source].
func (p *heldProcess) About(doc *report.Document) { doc.PID, doc.Exe = p.PID, p.Exe }
