package report

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/short"
)

// viewFlags say how much of stacks is shown, beside values.
type viewFlags struct {
	Modules bool
	outer   int // the outermost frames alone; 0 for all
	source  sourceContext
	dirs    []string
	files   *sourceFiles // not nil if source is given
	short   shortness
	full    bool

	AllFrames bool   // the run times' own frames of languages, too
	Brief     *Brief // not nil once the flags are checked
}

func (v *viewFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&v.outer, "outer", 0, "only the outermost N frames of each stack, as gdb's bt -N; inlined and tail calls count, and frames of languages")
	f.BoolVar(&v.Modules, "modules", false, "print each frame's file of code (program or library) behind its source file and line, too")
	f.Var(&v.source, "source", "print each frame's source line with a line before and behind it, or with as many as are given, if the source file is there")
	f.Lookup("source").NoOptDefVal = "1"
	f.Var(&v.short, "short", "leave out the frames in which the standard library of C++ or Rust goes from one function of the program to the next, and what is long in names; the default on a terminal (see docs/many.md)")
	f.Lookup("short").NoOptDefVal = "true"
	f.BoolVar(&v.full, "full", false, "print all frames, and names in full, on a terminal, too: --short=false")
	f.BoolVar(&v.AllFrames, "all-frames", false, "print the frames of an interpreter or virtual machine itself, too, in whose place its language's frames stand")
	cmdline.Texts(f, &v.dirs, "source-dir", "where to look for source files by their whole paths, the ends of these, or their names (may be given several times)")
	cmd.MarkFlagDirname("source-dir")
}

// Any reports whether stacks are shown in another way than usual.
func (v *viewFlags) Any() bool { return v.Modules || v.outer > 0 || v.source.given }

// Brief is what all printers of short text share.
type Brief struct {
	Names short.Names
	Hid   atomic.Bool // frames of the standard library were left out
}

// shortness is a flag: whether stacks are made shorter to read. The zero value leaves that to where
// they are printed.
type shortness struct{ given, on bool }

// Set implements pflag.Value.
func (s *shortness) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("want true or false")
	}
	*s = shortness{true, on}
	return nil
}

// String implements pflag.Value.
func (s *shortness) String() string {
	if !s.given {
		return ""
	}
	return strconv.FormatBool(s.on)
}

// Type implements pflag.Value.
func (s *shortness) Type() string { return "bool" }

// Short reports whether the names in text that is written to f are short, and whether frames of the
// standard library are left out. Without the flags, terminals alone have it so. All frames are
// there where more is printed of each than its place, or where frames are chosen.
func (w *Flags) Short(f any) (names, hide bool) {
	names = w.View.short.on
	if !w.View.short.given {
		names = !w.View.full && isTerminal(f)
	}
	return names, names && !w.Values.Chosen() && !w.Registers && !w.Explain
}

// sourceContext is a flag: how many source lines to print before and behind a frame's own line. The
// zero value prints none at all.
type sourceContext struct {
	given bool
	lines int
}

// Set implements pflag.Value.
func (c *sourceContext) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxContext {
		return fmt.Errorf("want 0 to %d lines, as in --source=3", maxContext)
	}
	*c = sourceContext{true, n}
	return nil
}

// String implements pflag.Value.
func (c *sourceContext) String() string {
	if !c.given {
		return ""
	}
	return strconv.Itoa(c.lines)
}

// Type implements pflag.Value.
func (c *sourceContext) Type() string { return "lines" }

// maxContext bounds the source lines around a frame's own line.
const maxContext = 100

// check finds mistakes in the flags; w are all of a command's.
func (v *viewFlags) check(w *Flags) error {
	switch {
	case v.outer < 0:
		return exit.Misuse(fmt.Errorf("--outer %d: want 1 or more", v.outer))
	case v.outer > 0 && w.MaxFrames > 0:
		return exit.Misuse(errors.New("--outer counts frames from the outermost on, and --max-frames from the innermost: give one"))
	case len(v.dirs) > 0 && !v.source.given:
		return exit.Misuse(errors.New("--source-dir says where files are that --source prints: give that, too"))
	case v.full && v.short.on:
		return exit.Misuse(errors.New("--full is --short=false: give one"))
	case v.source.given && w.NoLines:
		return exit.Misuse(errors.New("--source needs the lines that --no-lines does not read"))
	case v.source.given && (w.Sum.Tree || w.Sum.Format != ""):
		return exit.Misuse(errors.New("--source has no place in a tree or a picture: give it with --merge, or alone"))
	}
	v.Brief = new(Brief)
	if v.source.given {
		v.files = &sourceFiles{dirs: v.dirs, trust: w.Debug.Trust}
	}
	return nil
}

// outermost are the last frames that were added. Hidden ones do not count.
type outermost struct {
	flags *Flags
	list  []Frame
	shown int // of list
}

// set takes the list with more frames at its end, and drops frames that are not among the last.
func (o *outermost) set(list []Frame) {
	for i := len(o.list); i < len(list); i++ {
		if o.flags.Shows(&list[i]) {
			o.shown++
		}
	}
	o.list = list
	if most := o.flags.View.outer; o.shown > 2*most+maxLogical {
		n := copy(list, o.frames())
		clear(list[n:])
		o.list, o.shown = list[:n], most
	}
}

// maxLogical is how many frames are kept beside the outermost ones before the others are dropped.
const maxLogical = 64

// frames returns the outermost frames.
func (o *outermost) frames() []Frame {
	left := o.flags.View.outer
	for i := range slices.Backward(o.list) {
		if o.flags.Shows(&o.list[i]) {
			if left--; left == 0 {
				return o.list[i:]
			}
		}
	}
	return o.list
}
