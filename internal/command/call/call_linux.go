package call

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/calling"
	"github.com/sfwalk/sfwalk/internal/command/calls"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/procdir"
)

// call has a process of this machine evaluate expressions.
func call(cmd *cobra.Command, pid int, texts []string, flags *calls.Flags) error {
	deferred := make(chan struct{})
	go func() { // meanwhile the process's modules are found
		targets.DeferStops()
		close(deferred)
	}()
	p, err := native.Open(pid)
	if err != nil {
		return err
	}
	defer p.Close()
	c := &calls.Callee{Process: p, Source: processSource(p), Name: fmt.Sprintf("call %d", pid), Exe: p.Exe}
	c.Auxv, _ = os.ReadFile(procdir.File(pid, "auxv"))
	if flags.TID == 0 {
		flags.TID = procdir.Thread(pid)
	}
	return c.Evaluate(cmd, texts, flags, func() (inferior.Thread, error) {
		<-deferred
		options := native.Options{Threads: []int{flags.TID}}
		if flags.Alone {
			options.Threads = nil
		}
		if err := p.Hold(cmd.Context(), options); err != nil {
			return nil, err
		}
		th := p.Thread(flags.TID)
		if th == nil {
			return nil, c.Fail(fmt.Errorf("--tid %d: the process has no such thread", flags.TID))
		}
		return th, nil
	})
}

// callingSource returns a process that is held, if expressions of --print call functions of it; nil
// if none does.
func callingSource(ctx context.Context, pid int, flags *report.Flags) (*report.Source, error) {
	if !slices.ContainsFunc(flags.Values.Prints, calling.MayCall) {
		return nil, nil
	}
	targets.DeferStops()
	p, err := native.Open(pid)
	if err != nil {
		return nil, err
	}
	c := &calls.Callee{Process: p, Source: processSource(p), Name: fmt.Sprintf("attach %d", pid), Exe: p.Exe}
	c.Auxv, _ = os.ReadFile(procdir.File(pid, "auxv"))
	if !c.InFrames(ctx, flags.Values.Prints) {
		return nil, p.Close()
	}
	if err := p.Hold(ctx, native.Options{Threads: flags.TIDs}); err != nil {
		return nil, err
	}
	return c.Source, nil
}

// processSource makes what the other commands print of a process that is held.
func processSource(p *native.Process) *report.Source {
	return &report.Source{
		Target:   p,
		Process:  hosts.Process{PID: p.PID},
		Root:     procdir.File(p.PID, "root"),
		Opener:   p.OpenNamed,
		About:    func(doc *report.Document) { doc.PID, doc.Exe = p.PID, p.Exe },
		Warnings: p.Warnings,
	}
}
