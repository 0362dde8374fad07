package calls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/inferior"
	stubbed "github.com/sfwalk/sfwalk/inferior/stub"
	"github.com/sfwalk/sfwalk/internal/calling"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/remote"
)

// Check finds mistakes in the flags about calls before a target is touched.
func Check(cmd *cobra.Command, texts []string, flags *Flags) error {
	for _, text := range texts {
		if _, err := expression.Guess(text); err != nil {
			return exit.Misuse(fmt.Errorf("--call: %w", err))
		}
	}
	switch {
	case flags.Timeout < 0:
		return exit.Misuse(fmt.Errorf("--call-timeout %v: want a time, such as 2s", flags.Timeout))
	case len(texts) == 0 && (cmd.Flags().Changed("call-timeout") || flags.Alone):
		return exit.Misuse(errors.New("--call-timeout and --alone are for --call"))
	case len(texts) > 0 && len(flags.TIDs) > 1:
		return exit.Misuse(errors.New("--call: one thread makes the calls, want one --tid"))
	}
	return nil
}

// Remote has a stub's target evaluate expressions.
func Remote(cmd *cobra.Command, addr string, opts remote.Options, texts []string, flags *Flags) error {
	p, err := stubbed.Dial(cmd.Context(), addr, opts)
	if err != nil {
		return err
	}
	defer p.Close()
	c := RemoteCallee(p, addr, opts.Sysroot)
	return c.Evaluate(cmd, texts, flags, func() (inferior.Thread, error) {
		threads := p.Inferiors()
		if len(threads) == 0 {
			return nil, c.Fail(errors.New("the target has no threads"))
		}
		if len(flags.TIDs) == 0 {
			return threads[0], nil
		}
		i := slices.IndexFunc(threads, func(th inferior.Thread) bool { return th.ID() == flags.TIDs[0] })
		if i < 0 {
			return nil, c.Fail(fmt.Errorf("--tid %d: the target has no such thread", flags.TIDs[0]))
		}
		return threads[i], nil
	})
}

// RemoteForPrint connects to a stub whose target runs the functions that expressions of --print
// call. It returns nil, and connects to nothing, if no expression looks like a call. Where one
// looks so and calls nothing, the connection serves to read the target: a stub may take no second
// one.
func RemoteForPrint(ctx context.Context, addr string, opts remote.Options, flags *report.Flags) (report.Source, error) {
	if !slices.ContainsFunc(flags.Values.Prints, calling.MayCall) {
		return nil, nil
	}
	p, err := stubbed.Dial(ctx, addr, opts)
	if err != nil {
		return nil, err
	}
	c := RemoteCallee(p, addr, opts.Sysroot)
	c.InFrames(ctx, flags.Values.Prints)
	return c.Source, nil
}

// RemoteCallee makes a callee of a stub's target.
func RemoteCallee(p *stubbed.Process, addr, root string) *Callee {
	c := &Callee{Process: p, Name: "remote " + addr, remote: addr, Exe: p.Exe()}
	c.Auxv, _ = p.Auxv()
	origin := report.Origin{Process: hosts.Process{PID: p.PID(), Root: root}, Root: root}
	c.Source = &heldStub{p, origin, addr}
	return c
}

// heldStub is a stub's target that is held, as a source.
type heldStub struct {
	*stubbed.Process
	report.Origin
	addr string // of the stub
}

// About implements [report.Source].
func (s *heldStub) About(doc *report.Document) {
	doc.Remote, doc.PID, doc.Exe = s.addr, s.PID(), s.Exe()
	if number, name := s.StopSignal(); number != 0 {
		doc.Signal = &report.Signal{Number: number, Name: name}
	}
}

// Mark implements [report.Marker].
func (s *heldStub) Mark(of target.Thread, th *report.Thread) {
	th.Stopped = of.(*stubbed.Thread).Current
}
