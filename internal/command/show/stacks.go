package show

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/symbol"
)

// Stacks prints the stacks of targets as the flags of a command ask for it: of each target by
// itself, or of several rounds and processes together.
type Stacks struct {
	Flags *report.Flags
	// Printer makes the printer of another format than text and JSON; nil for these.
	Printer func() report.Printer

	into  *Sum        // what all stacks are added to; nil if each target is printed by itself
	apart *perProcess // what into is, by process; nil if all stacks are added to one
}

// Target walks a target and prints its stacks.
func Target(cmd *cobra.Command, s report.Source, flags *report.Flags) error {
	return (&Stacks{Flags: flags}).Show(cmd, s)
}

// Show walks a target and prints its stacks, or adds them to others.
func (p *Stacks) Show(cmd *cobra.Command, s report.Source) error {
	switch {
	case p.into != nil:
		return p.into.AddRound(cmd, s)
	case p.Flags.Sum.Tasks:
		return showTasks(cmd, s, p.Flags)
	case p.Flags.Sum.Any():
		return showSum(cmd, s, p.Flags)
	}
	symbols := report.SymbolizerOf(s, p.Flags)
	defer symbols.Close()
	out, end, err := p.Flags.Sum.Open(cmd)
	if err != nil {
		return err
	}
	whole, warnings, err := p.Print(out, s, symbols)
	if err = end(err); err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return exit.ErrInterrupted
	}
	p.Flags.Warn(cmd, warnings)
	if !p.Flags.SeveralProcesses { // else it is for all of them
		if err := p.Flags.Values.Verdict(); err != nil {
			return err
		}
	}
	if !whole {
		return exit.ErrEarly
	}
	return nil
}

// Print is [report.Print] in the format that the flags ask for.
func (p *Stacks) Print(out io.Writer, s report.Source, symbols *symbol.Symbolizer) (whole bool, warnings []string, err error) {
	return report.Print(out, s, symbols, p.Flags, func() report.Printer { return p.NewPrinter(out) })
}

// NewPrinter returns a new printer of the format that the flags ask for.
func (p *Stacks) NewPrinter(out io.Writer) report.Printer {
	if p.Printer != nil {
		return p.Printer()
	}
	if p.Flags.JSON {
		return newJSONPrinter()
	}
	return newTextPrinter(out, p.Flags)
}

// newTextPrinter returns a printer of text for out.
func newTextPrinter(out io.Writer, flags *report.Flags) *textPrinter {
	color := flags.UseColor(out)
	if p, ok := out.(*printable.Writer); ok && color {
		p.AllowColors()
	}
	return &textPrinter{color: color, withModules: flags.View.Modules, process: flags.Process, byFrame: flags.Values.ByFrame(), brief: newBrief(out, flags)}
}

// showSum walks a target and prints the sum of its stacks.
func showSum(cmd *cobra.Command, s report.Source, flags *report.Flags) error {
	m := NewSum(flags)
	doc, whole, err := m.add(cmd, s)
	if err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return exit.ErrInterrupted
	}
	out, end, err := flags.Sum.Open(cmd)
	if err != nil {
		return err
	}
	if err := end(m.Write(out, doc)); err != nil {
		return err
	}
	if !whole {
		return exit.ErrEarly
	}
	return nil
}
