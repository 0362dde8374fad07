//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// control starts a program, runs it to a function, and does what the lines of in say. It returns
// the program's exit status, like a shell.
func control(ctx context.Context, cmd *exec.Cmd, function string, in io.Reader, out io.Writer) (int, error) {
	p, err := native.Start(ctx, cmd)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	names := symbol.New(symbol.Options{})
	defer names.Close()
	if err := breakAt(p, function); err != nil {
		return 0, err
	}
	run, runner, err := toBreakpoint(ctx, p)
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(in); ; {
		switch e := run.Event; {
		case run.End == inferior.Happened && e.Kind == inferior.Exited:
			return e.Status, nil
		case run.End == inferior.Happened && e.Thread == nil:
			return 128 + e.Signal.Number, nil
		}
		this, err := runner.Frame(0)
		if err != nil {
			return 0, err
		}
		show(out, &logical.New(p, names).Append(nil, 0, this)[0])
		if !lines.Scan() {
			return 0, lines.Err() // the program goes on
		}
		switch lines.Text() {
		case "continue":
			run, runner, err = toBreakpoint(ctx, p)
		case "finish": // until frame 0 has returned
			if run, err = runner.UntilReturn(ctx, this.ID()); err == nil && run.End == inferior.Returned {
				value, _ := runner.Result(long)
				fmt.Fprintf(out, "value: %#x\n", value)
			}
		case "nexti": // one instruction; calls to their ends
			run, err = runner.StepOver(ctx)
		case "return": // without executing the rest of frame 0
			err = runner.Return(this, nil, nil)
		default:
			err = fmt.Errorf("%q: want continue, finish, nexti or return", lines.Text())
		}
		if err != nil {
			return 0, err
		}
	}
}

// long is a function's type as far as it matters here. Package value reads the true one
// (Type.ABIFunc).
var long = &abi.Func{Result: &abi.Type{Kind: abi.Integer, Size: 8, Signed: true}}

func breakAt(p *native.Process, function string) error {
	for _, m := range p.Modules().All() {
		if im, bias, err := m.Image(); err == nil {
			for _, s := range im.Lookup(function, 1) {
				return p.SetBreakpoint(s.Addr + bias)
			}
		}
	}
	return fmt.Errorf("the program has no function %s", function)
}

// toBreakpoint runs all threads until one comes to a breakpoint, or the program ends. Signals are
// delivered.
func toBreakpoint(ctx context.Context, p *native.Process) (inferior.Run, *inferior.Runner, error) {
	e := inferior.Event{Kind: inferior.Signalled}
	for e.Kind == inferior.Signalled {
		err := p.Resume(inferior.Resume{Thread: e.Thread, Signal: e.Signal.Number})
		if err == nil {
			e, err = p.Wait(ctx)
		}
		if err != nil {
			return inferior.Run{}, nil, err
		}
	}
	return inferior.Run{End: inferior.Happened, Event: e}, inferior.NewRunner(p, e.Thread, sniffer.Table(p.Arch())), nil
}
