package values

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/ownpages"
	"github.com/sfwalk/sfwalk/value"
)

// Flags are the flags that have a command print the values in frames.
type Flags struct {
	args, locals bool
	Prints       []string      // expressions
	printed      *printed      // nil without expressions
	frames       []string      // levels, or names of functions; all where there are none
	selected     *atomic.Int64 // how many there were; one is counted each time that it is looked at
	near         *near         // what may have been meant where there was none
	printer      value.Printer
	added        bool // the command has the flags
}

// Add adds the flags to a command.
func (v *Flags) Add(cmd *cobra.Command) {
	v.added = true
	f := cmd.Flags()
	f.BoolVar(&v.args, "args", false, "print each frame's arguments, as gdb's bt does")
	f.BoolVar(&v.locals, "locals", false, "print each frame's arguments and local variables, as gdb's bt full does")
	cmdline.List(f, &v.frames, "frame", "only these frames of each stack, and the threads that have them: by number, or by function, with its class and namespace or without")
	cmdline.Texts(f, &v.Prints, "print", "print the value of this expression of C, C++, Rust, Go or Fortran in each frame that has its names, as gdb's and Delve's print do; may be given several times (see docs/values.md)")
	f.BoolVar(&v.printer.Raw, "raw", false, "print the strings and containers of C++, Rust and Go as the structs that they are")
	f.IntVar(&v.printer.Elements, "print-elements", 200, "at most this many elements of an array and characters of a text; -1 for all")
	f.IntVar(&v.printer.Repeats, "print-repeats", 10, "more equal elements in a row than this are printed once, with their number")
	f.IntVar(&v.printer.Depth, "print-depth", 20, "at most this many structs within each other; -1 for any number")
}

// Check finds mistakes in the flags.
func (v *Flags) Check() error {
	switch {
	case v.printer.Elements < -1:
		return exit.Misuse(fmt.Errorf("--print-elements %d: want 0 or more, or -1 for all", v.printer.Elements))
	case v.added && v.printer.Repeats < 1:
		return exit.Misuse(fmt.Errorf("--print-repeats %d: want 1 or more", v.printer.Repeats))
	case v.printer.Depth < -1:
		return exit.Misuse(fmt.Errorf("--print-depth %d: want 0 or more, or -1 for any number", v.printer.Depth))
	}
	v.printer.UTF8 = utf8Locale()
	v.selected, v.near = new(atomic.Int64), new(near)
	for _, text := range v.Prints {
		if err := malformed(text); err != nil {
			return exit.Misuse(fmt.Errorf("--print %s: %w", text, withoutText(err)))
		}
	}
	if len(v.Prints) > 0 {
		v.printed = &printed{}
	}
	return nil
}

// Any reports whether values are asked for.
func (v *Flags) Any() bool { return v.args || v.locals || len(v.Prints) > 0 }

// Chosen reports whether frames are printed by what the flags say of values.
func (v *Flags) Chosen() bool { return v.Any() || len(v.frames) > 0 }

// Trim lets go of the program's own pages, if values are asked for: a stage of the command has
// ended, and most code that it has touched is not used again. Without values, there is too little
// to gain.
func (v *Flags) Trim() {
	if v.Any() {
		ownpages.Release()
	}
}

// Selects reports whether a frame is to be printed.
func (v *Flags) Selects(level int, function string) bool {
	if len(v.frames) == 0 {
		return true
	}
	number := strconv.Itoa(level)
	is := slices.ContainsFunc(v.frames, func(x string) bool { return x == number || IsCalled(function, x) })
	if v.selected != nil {
		if is {
			v.selected.Add(1)
		} else if v.selected.Load() == 0 {
			v.near.note(function, v.frames)
		}
	}
	return is
}

// Names reports whether the flags name a function.
func (v *Flags) Names(function string) bool {
	return slices.ContainsFunc(v.frames, func(x string) bool { return IsCalled(function, x) })
}

// ByFrame reports whether the flags name frames: nothing is printed before there is such a one.
func (v *Flags) ByFrame() bool { return len(v.frames) > 0 }

// Selected returns how often a frame was selected by its number or function.
func (v *Flags) Selected() int64 {
	if v.selected == nil {
		return 0
	}
	return v.selected.Load()
}

// Verdict returns an error if no stack has a frame that the flags name, or if an expression has no
// value in any frame.
func (v *Flags) Verdict() error {
	if len(v.frames) > 0 && v.selected != nil && v.selected.Load() == 0 {
		hint := v.near.hint()
		if hint == "" {
			hint = ": name it by its number or its function, as they are printed without --frame"
		}
		return fmt.Errorf("--frame %s: no stack has such a frame%s", strings.Join(v.frames, ","), hint)
	}
	return v.printed.verdict()
}

// utf8Locale reports whether the user's locale has texts in UTF-8.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
