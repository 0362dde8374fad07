package command

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/calling"
	"github.com/sfwalk/sfwalk/internal/jobcontrol"
	"github.com/sfwalk/sfwalk/sniffer/dummy"
	"github.com/sfwalk/sfwalk/target"
)

// call has a process evaluate an expression. All that can be found out before is found out while the process
// runs.
func call(cmd *cobra.Command, pid int, text string, flags *callFlags) error {
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
	x := &evaluation{Evaluator: &calling.Evaluator{Process: p, Exe: p.Exe, Symbols: symbols}, pid: pid, tid: pid, text: text}
	if err := x.Prepare(text); err != nil {
		return fmt.Errorf("call %d: %w", pid, err)
	}
	if flags.tid != 0 {
		x.tid = flags.tid
	}
	options := native.Options{Threads: []int{x.tid}}
	if flags.alone {
		options.Threads = nil
	}
	if err := p.Hold(ctx, options); err != nil {
		return err
	}
	th := p.Thread(x.tid)
	if th == nil {
		return fmt.Errorf("call %d: --tid %d: the process has no such thread", pid, x.tid)
	}
	if err := mayCall(p, th); err != nil {
		return fmt.Errorf("call %d: %w", pid, err)
	}
	dummies := &dummy.Frames{}
	if x.Caller, err = inferior.NewCaller(p, th); err != nil {
		return fmt.Errorf("call %d: %w", pid, err)
	}
	x.Caller.Alone, x.Caller.Dummies = flags.alone, dummies
	flags.first, flags.tids = dummy.New(dummies), []int{x.tid}
	var stack bytes.Buffer
	x.Caller.Stopped = func(inferior.Event) {
		if p.Thread(x.tid) == nil {
			return
		}
		if flags.json {
			x.stopped, _, _ = collect(s, &flags.walkFlags)
		} else {
			printStacks(&stack, s, symbols, &flags.walkFlags)
		}
	}
	if flags.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, flags.timeout)
		defer cancel()
	}
	v, err := x.Evaluate(ctx, text)
	shown := ""
	if err == nil {
		shown = x.Show(&v)
	}
	// The process goes on before anything is printed.
	if left := p.Close(); left != nil && err == nil {
		err = left
	}
	cmd.OutOrStdout().Write(stack.Bytes())
	return x.print(cmd, flags, &v, shown, err)
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
