package command

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/calling"
	"github.com/sfwalk/sfwalk/internal/jobcontrol"
	"github.com/sfwalk/sfwalk/sniffer/dummy"
	"github.com/sfwalk/sfwalk/target"
)

// call has a process evaluate expressions. All that can be found out before is found out while the process
// runs.
func call(cmd *cobra.Command, pid int, texts []string, flags *callFlags) error {
	ctx := cmd.Context()
	defer jobcontrol.Defer()()
	p, err := native.Open(pid)
	if err != nil {
		return err
	}
	defer p.Close()
	s := processSource(p)
	symbols := s.symbolizer(&flags.walkFlags)
	defer symbols.Close()
	e := &calling.Evaluator{Process: p, Exe: p.Exe, Symbols: symbols, Features: p.Features()}
	e.Auxv, _ = os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	for i, text := range texts {
		// The first expression may load what later ones name.
		if err := e.Prepare(text); err != nil && i == 0 {
			return fmt.Errorf("call %d: %w", pid, err)
		}
	}
	if flags.tid == 0 {
		flags.tid = pid
	}
	th, err := hold(ctx, p, flags)
	if err != nil {
		return err
	}
	if e.Caller, err = inferior.NewCaller(p, th); err != nil {
		return fmt.Errorf("call %d: %w", pid, err)
	}
	dummies := &dummy.Frames{}
	e.Caller.Alone, e.Caller.Dummies = flags.alone, dummies
	flags.first, flags.tids = dummy.New(dummies), []int{flags.tid}
	var stack bytes.Buffer
	var stopped *document
	e.Caller.Stopped = func(inferior.Event) {
		switch {
		case p.Thread(flags.tid) == nil:
		case flags.json:
			stopped, _, _ = collect(s, &flags.walkFlags)
		default:
			printStacks(&stack, s, symbols, &flags.walkFlags)
		}
	}
	if flags.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, flags.timeout)
		defer cancel()
	}
	var list []*evaluation
	for _, text := range texts {
		x := &evaluation{pid: pid, tid: flags.tid, text: text}
		list = append(list, x)
		x.value, x.err = e.Evaluate(ctx, text)
		x.notes, x.stopped = e.Notes, stopped
		if x.err != nil {
			break
		}
		x.shown = e.Show(&x.value)
	}
	// The process goes on before anything is printed.
	left := p.Close()
	for _, x := range list {
		if x.err != nil {
			cmd.OutOrStdout().Write(stack.Bytes())
		}
		if err := x.print(cmd, flags); err != nil {
			return err
		}
	}
	return left
}

// hold stops the thread that the flags name, or all, and returns that thread.
func hold(ctx context.Context, p *native.Process, flags *callFlags) (*native.Thread, error) {
	options := native.Options{Threads: []int{flags.tid}}
	if flags.alone {
		options.Threads = nil
	}
	if err := p.Hold(ctx, options); err != nil {
		return nil, err
	}
	th := p.Thread(flags.tid)
	if th == nil {
		return nil, fmt.Errorf("call %d: --tid %d: the process has no such thread", p.PID, flags.tid)
	}
	if err := mayCall(p, th); err != nil {
		return nil, fmt.Errorf("call %d: %w", p.PID, err)
	}
	return th, nil
}

// mayCall says why a thread must not call functions where it stands.
func mayCall(p *native.Process, th *native.Thread) error {
	var regs arch.Registers
	if err := th.Registers(&regs); err != nil {
		return err
	}
	if pc, ok := regs.Get(p.Arch().PC); ok && calling.RunsGo(p, pc) {
		return fmt.Errorf("thread %d runs Go code, whose stack is small and moves: choose a thread that runs C, by --tid", th.ID())
	}
	return nil
}

// processSource makes what the other commands print of a process that is held.
func processSource(p *native.Process) *source {
	return &source{
		Target:   p,
		process:  Process{PID: p.PID},
		root:     fmt.Sprintf("/proc/%d/root", p.PID),
		about:    func(doc *document) { doc.PID, doc.Exe = p.PID, p.Exe },
		warnings: p.Warnings,
	}
}

var _ target.Target = (*native.Process)(nil)
