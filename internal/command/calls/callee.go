package calls

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/calling"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer/dummy"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// Callee is a process that evaluates expressions.
type Callee struct {
	inferior.Process
	Source report.Source
	Name   string // that messages begin with: "call 4242"
	remote string // where its stub is; "" if it is a process of this machine
	Exe    string
	Auxv   []byte
}

// Fail says in which process err has happened.
func (c *Callee) Fail(err error) error { return fmt.Errorf("%s: %w", c.Name, err) }

// Evaluate has a thread evaluate expressions, lets the process go, and prints the values. All that
// can be found out before hold is called, which returns the thread, is found out then.
func (c *Callee) Evaluate(cmd *cobra.Command, texts []string, flags *Flags, hold func() (inferior.Thread, error)) error {
	ctx := cmd.Context()
	symbols := report.SymbolizerOf(c.Source, &flags.Flags)
	defer symbols.Close()
	caller := &calling.Caller{Process: c.Process, Exe: c.Exe, Symbols: symbols, Auxv: c.Auxv}
	for _, text := range texts {
		caller.Prepare(text)
	}
	reader := value.NewReader(c.Source, symbols, printers.All())
	session := reader.NewSession()
	th, err := hold()
	if err != nil {
		return err
	}
	if err := c.mayCall(th); err != nil {
		return c.Fail(err)
	}
	if caller.Thread, err = inferior.NewCaller(c.Process, th); err != nil {
		return c.Fail(err)
	}
	session.Caller = caller
	session.Frames = sync.OnceValue(func() []*value.Frame { return c.frames(th, reader, &flags.Flags) })
	dummies := &dummy.Frames{}
	caller.Thread.Alone, caller.Thread.Dummies = flags.Alone, dummies
	flags.First, flags.TIDs = dummy.New(dummies), []int{th.ID()}
	var stack bytes.Buffer
	var stopped *report.Document
	caller.Thread.Stopped = func(inferior.Event) {
		switch {
		case !slices.ContainsFunc(c.Inferiors(), func(x inferior.Thread) bool { return x.ID() == th.ID() }):
		case flags.JSON:
			stopped, _, _ = report.Collect(c.Source, &flags.Flags)
		default:
			(&show.Stacks{Flags: &flags.Flags}).Print(&stack, c.Source, symbols)
		}
	}
	if flags.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, flags.Timeout)
		defer cancel()
	}
	var list []*evaluation
	for _, text := range texts {
		x := &evaluation{Callee: c, tid: th.ID(), text: text}
		list = append(list, x)
		v, err := session.Evaluate(ctx, text)
		x.notes, x.err, x.stopped = session.Notes, err, stopped
		if x.err != nil {
			break
		}
		if x.typeName = v.Type.String(); v.Type.Strip().Kind != value.Void {
			x.shown = (&value.Printer{UTF8: true}).Print(&v)
		}
	}
	// The process goes on before anything is printed.
	left := c.Process.Close()
	for _, w := range c.Source.Warnings() {
		cmdline.Warn(cmd, w)
	}
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

// mayCall says why a thread must not call functions where it stands.
func (c *Callee) mayCall(th inferior.Thread) error {
	var regs arch.Registers
	if err := th.Registers(&regs); err != nil {
		return err
	}
	if pc, ok := regs.Get(c.Process.Arch().PC); ok && calling.RunsGo(c.Process, pc) {
		return fmt.Errorf("thread %d runs Go code, whose stack is small and moves: choose a thread that runs C, by --tid", th.ID())
	}
	return nil
}

// maxCallFrames bounds the frames whose variables an expression may name.
const maxCallFrames = 64

// frames returns the frames of a thread, the innermost first; libraries' after the program's, for
// most names that somebody writes are the program's, and so is the language.
func (c *Callee) frames(th inferior.Thread, reader *value.Reader, flags *report.Flags) (list []*value.Frame) {
	table := flags.Table(c.Arch(), false, flags.Plugins.Of(c.Source.From().Process))
	stack, err := frame.New(c.Source, th, table)
	if err != nil {
		return nil
	}
	view := logical.New(c.Source, reader.Symbols)
	var room []logical.Frame
	var libraries []*value.Frame
	for f, err := range stack.All() {
		if err != nil || len(list)+len(libraries) >= maxCallFrames {
			break
		}
		room = view.Append(nil, 0, f)
		for i := range room {
			of, err := reader.Frame(&room[i], c.Process.Memory())
			switch m := c.Process.Modules().Find(room[i].AddressInBlock); {
			case err != nil:
			case m != nil && m.Path == c.Exe:
				list = append(list, &of)
			default:
				libraries = append(libraries, &of)
			}
		}
	}
	return append(list, libraries...)
}
