package plugin

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// runDecoration is what the plug-in says of one stack.
type runDecoration struct {
	Reads    int        `json:"reads"` // of memory
	TookUS   int64      `json:"took_us"`
	Frames   []runFrame `json:"frames"`
	Warnings []string   `json:"warnings"`
}

// runFrame is a frame of the language, in its place.
type runFrame struct {
	Level    int    `json:"level"`   // of the physical frame
	Instead  bool   `json:"instead"` // the physical frame is hidden
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// decorating asks the plug-in about the stacks of a process, if it decorates some.
type decorating struct {
	source   report.Source
	table    *frame.Table
	runtimes []language.Named
	failed   string // why run times cannot be read
}

func newDecorating(s report.Source, plugin hosts.Plugin, table *frame.Table) *decorating {
	d := &decorating{source: s, table: table}
	decorator := plugin.Decorator(s.From().Process)
	if decorator == nil {
		return d
	}
	var err error
	d.runtimes, err = language.Find(&language.Process{Arch: s.Arch(), Memory: s.Memory(), Modules: s.Modules()}, []language.Decorator{decorator})
	if err != nil {
		d.failed = err.Error()
	}
	return d
}

// of returns what the plug-in says of the stack of a thread; nil if it knows no run time there.
func (d *decorating) of(th target.Thread) *runDecoration {
	if len(d.runtimes) == 0 {
		return nil
	}
	stack, err := frame.New(d.source, th, d.table)
	if err != nil {
		return nil
	}
	counted := &counter{Memory: target.MemoryOf(d.source, th)}
	s := language.Stack{Arch: d.source.Arch(), Thread: th, Memory: counted, Locals: true}
	for f, err := range stack.All() {
		if err != nil {
			break
		}
		s.Frames, s.Whole = append(s.Frames, f), f.StopReason().Whole()
	}
	begin := time.Now()
	said := language.Decorate(&s, d.runtimes)
	to := &runDecoration{Reads: counted.reads, TookUS: time.Since(begin).Microseconds(), Frames: []runFrame{}, Warnings: []string{}}
	if said == nil {
		return to
	}
	for level := range s.Frames {
		place := said.At[level]
		if place == nil {
			continue
		}
		for i := range place.Frames {
			f := &place.Frames[i]
			to.Frames = append(to.Frames, runFrame{level, place.Hidden, f.Function, f.File, f.Line})
		}
	}
	to.Warnings = append(to.Warnings, said.Warnings...)
	return to
}

// counter counts the reads of memory.
type counter struct {
	target.Memory
	reads int
}

// ReadMemory implements [target.Memory].
func (c *counter) ReadMemory(addr uint64, p []byte) (int, error) {
	c.reads++
	return c.Memory.ReadMemory(addr, p)
}

func (d *runDecoration) print(w io.Writer, language string) {
	printable.Fprintf(w, "  %s of %s: %v, %s\n", count.Of(len(d.Frames), "frame"), language, time.Duration(d.TookUS)*time.Microsecond, count.Of(d.Reads, "read"))
	for i := range d.Frames {
		f := &d.Frames[i]
		where, how := f.Function, "beside the frame"
		if f.File != "" {
			where = fmt.Sprintf("%s at %s:%d", f.Function, f.File, f.Line)
		}
		if f.Instead {
			how = "in place of the frame"
		}
		printable.Fprintf(w, "#%-3d %s, %s\n", f.Level, where, how)
	}
	for _, text := range d.Warnings {
		printable.Fprintf(w, "  %s\n", text)
	}
}

// fault returns why the plug-in was put out of use, or why it cannot read a run time; nil for
// neither.
func (d *decorating) fault(plugin hosts.Plugin) error {
	if err := plugin.Err(); err != nil || d.failed == "" {
		return err
	}
	return errors.New(d.failed)
}
