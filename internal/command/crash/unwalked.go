package crash

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/symbol"
)

// showUnwalked prints a dump of a processor whose stacks cannot be walked: its threads, each with
// the place where it was. why says that.
func showUnwalked(cmd *cobra.Command, path string, dump *format.File, why error, printed *show.Stacks) error {
	flags := printed.Flags
	if flags.Sum.Any() {
		return fmt.Errorf("no stacks to merge: %w", why)
	}
	out, end, err := flags.Sum.Open(cmd)
	if err != nil {
		return err
	}
	early := printUnwalked(out, path, dump, why, printed)
	if !errors.Is(early, exit.ErrEarly) {
		return end(early)
	} else if err := end(nil); err != nil {
		return err
	}
	for _, w := range dump.Warnings {
		cmdline.Warn(cmd, w)
	}
	return early
}

// printUnwalked writes such a dump. The error is exit.ErrEarly if all is written.
func printUnwalked(out io.Writer, path string, dump *format.File, why error, printed *show.Stacks) error {
	flags := printed.Flags
	doc := &report.Document{Digits: dump.System.Processor.AddressBits() / 4, Warnings: dump.Warnings}
	aboutUnwalked(doc, path, dump, why, flags)
	w, allowance := &report.Walker{Flags: flags}, flags.NewAllowance(files.OnDisk(path), len(doc.Threads))
	p := printed.NewPrinter(out)
	p.Buffer().Out = out
	p.Heading(doc)
	for i := range doc.Threads {
		t := &doc.Threads[i]
		p.Thread(doc, i)
		// A few names may be of many threads, and long.
		share := allowance.Share()
		for k := range t.Frames {
			if !share.Has(k) {
				allowance.CutShort(t)
				break
			}
			before := p.Buffer().Size()
			p.Frames(w, t.Frames[k:k+1])
			share.Wrote(p.Buffer().Size() - before)
		}
		share.End()
		p.End(t)
		p.Buffer().MakeRoom()
	}
	p.Ending(doc)
	return cmp.Or(p.Buffer().FlushTo(out), exit.ErrEarly)
}

// aboutUnwalked fills in all that is known of such a dump.
func aboutUnwalked(doc *report.Document, path string, dump *format.File, why error, flags *report.Flags) {
	aboutDump(doc, path, dump)
	if dump.System.Known {
		doc.Arch = dump.System.Processor.String()
	}
	doc.Threads = unwalked(dump, why, flags.Registers)
}

// unwalked returns the threads of a dump, the one that it is about first, with their innermost
// frames.
func unwalked(dump *format.File, why error, registers bool) []report.Thread {
	list := []report.Thread{}
	requesting, known := dump.Requesting()
	first := -1 // the thread that it is about
	for i := range dump.Threads {
		x := &dump.Threads[i]
		if x.ID != 0 && x.ID == dump.Breakpad.Handler {
			continue
		}
		t := report.Thread{Index: len(list), TID: int(x.ID), Name: x.Name, Frames: []report.Frame{}, Stop: "unavailable", Error: why.Error(), Detail: why.Error()}
		about := known && x.ID == requesting
		t.Died = about && dump.Died()
		regs, err := dump.Registers(dump.ContextOf(x))
		if err != nil {
			t.Stop, t.Error = "", err.Error()
		} else if f, ok := innermost(dump, regs); ok {
			if registers {
				for _, r := range regs {
					f.Registers = append(f.Registers, report.Register{Name: r.Name, Value: fmt.Sprintf("%#x", r.Value)})
				}
			}
			t.Frames = append(t.Frames, f)
		}
		if about && first < 0 {
			first = len(list)
		}
		list = append(list, t)
	}
	if first > 0 {
		about := list[first]
		list = slices.Insert(slices.Delete(list, first, first+1), 0, about)
	}
	return list
}

// innermost returns the frame where a thread was.
func innermost(dump *format.File, regs []format.Register) (f report.Frame, ok bool) {
	for _, r := range regs {
		if r.Name != "pc" && r.Name != "rip" && r.Name != "eip" {
			continue
		}
		f = report.Frame{Type: "normal", PC: address.At(r.Value)}
		for i := range dump.Modules {
			if m := &dump.Modules[i]; r.Value-m.Base < m.Size {
				f.Module, f.InFile = symbol.Truncate(m.Name), r.Value-m.Base
			}
		}
		if f.Module == "" {
			f.InFile = r.Value
		}
		return f, true
	}
	return f, false
}
