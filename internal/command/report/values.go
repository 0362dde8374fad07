package report

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/ownpages"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// valueFlags are the flags that have a command print the values in frames.
type valueFlags struct {
	args, locals bool
	Prints       []string     // expressions
	printed      *printed     // nil without expressions
	frames       []string     // levels, or names of functions; all where there are none
	selected     *atomic.Bool // there was such a frame
	printer      value.Printer
	added        bool // the command has the flags
}

func (v *valueFlags) add(cmd *cobra.Command) {
	v.added = true
	f := cmd.Flags()
	f.BoolVar(&v.args, "args", false, "print each frame's arguments, as gdb's bt does")
	f.BoolVar(&v.locals, "locals", false, "print each frame's arguments and local variables, as gdb's bt full does")
	cmdline.List(f, &v.frames, "frame", "only these frames of each stack: by number, or by function")
	cmdline.Texts(f, &v.Prints, "print", "print the value of this expression of C, C++, Rust, Go or Fortran in each frame that has its names, as gdb's and Delve's print do; may be given several times (see docs/values.md)")
	f.BoolVar(&v.printer.Raw, "raw", false, "print the strings and containers of C++, Rust and Go as the structs that they are")
	f.IntVar(&v.printer.Elements, "print-elements", 200, "at most this many elements of an array and characters of a text; -1 for all")
	f.IntVar(&v.printer.Repeats, "print-repeats", 10, "more equal elements in a row than this are printed once, with their number")
	f.IntVar(&v.printer.Depth, "print-depth", 20, "at most this many structs within each other; -1 for any number")
}

func (v *valueFlags) check() error {
	switch {
	case v.printer.Elements < -1:
		return exit.Misuse(fmt.Errorf("--print-elements %d: want 0 or more, or -1 for all", v.printer.Elements))
	case v.added && v.printer.Repeats < 1:
		return exit.Misuse(fmt.Errorf("--print-repeats %d: want 1 or more", v.printer.Repeats))
	case v.printer.Depth < -1:
		return exit.Misuse(fmt.Errorf("--print-depth %d: want 0 or more, or -1 for any number", v.printer.Depth))
	}
	v.printer.UTF8 = utf8Locale()
	v.selected = new(atomic.Bool)
	if len(v.Prints) > 0 {
		v.printed = &printed{}
	}
	return nil
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

// Any reports whether values are asked for.
func (v *valueFlags) Any() bool { return v.args || v.locals || len(v.Prints) > 0 }

// chosen reports whether frames are printed by what the flags say of values.
func (v *valueFlags) chosen() bool { return v.Any() || len(v.frames) > 0 }

// trim lets go of the program's own pages, if values are asked for: a stage of the command has
// ended, and most code that it has touched is not used again. Without values, there is too little
// to gain.
func (v *valueFlags) trim() {
	if v.Any() {
		ownpages.Release()
	}
}

// Selects reports whether a frame is to be printed.
func (v *valueFlags) Selects(level int, function string) bool {
	if len(v.frames) == 0 {
		return true
	}
	name := function
	if i := strings.IndexByte(name, '('); i > 0 {
		name = name[:i]
	}
	number := strconv.Itoa(level)
	is := slices.ContainsFunc(v.frames, func(x string) bool { return x == number || x == function || x == name })
	if is && v.selected != nil {
		v.selected.Store(true)
	}
	return is
}

// Verdict returns an error if no stack has a frame that the flags name, or if an expression has no
// value in any frame.
func (v *valueFlags) Verdict() error {
	if len(v.frames) > 0 && v.selected != nil && !v.selected.Load() {
		return fmt.Errorf("--frame %s: no stack has such a frame: name it by its number or its function, as they are printed without --frame", strings.Join(v.frames, ","))
	}
	return v.printed.verdict()
}

// variable is an argument or a local variable.
type variable struct {
	Name     string       `json:"name,omitempty"`
	Text     string       `json:"expression,omitempty"` // instead of the name
	Type     string       `json:"type"`
	Value    string       `json:"value"`
	Block    int          `json:"block,omitempty"`
	Address  *address.Hex `json:"address,omitempty"`
	Register string       `json:"register,omitempty"`
	// Children are the parts of a struct, an array or a container.
	Children []child `json:"children,omitempty"`
	MovedOn  bool    `json:"moved_on,omitempty"` // it was read when the process had run on
	Why      string  `json:"why,omitempty"`      // with --explain: why it is not known
	Error    string  `json:"error,omitempty"`    // of an expression: why it has no value

	Line string `json:"-"` // "name = value"
}

// line is what is printed of a local variable: "name = value", and with --explain, why it is not
// known.
type line struct {
	Text []byte
	Why  string
}

// maxValueWork bounds the values of a target, in units of [value.Budget]: some three seconds, or so
// many bytes of text.
const maxValueWork = 48 << 20

// costField is what a variable, or a part of one, costs beside its value in a document.
const costField = 128

// maxValued bounds the texts of a thread's values that are kept until its frames are printed,
// bytes.
const maxValued = 16 << 20

// valueSize returns about how much memory the texts of the values take.
func (x *Frame) valueSize() int {
	n := 64 + len(x.Arguments)
	for i := range x.LocalLines {
		n += 32 + len(x.LocalLines[i].Text) + len(x.LocalLines[i].Why)
	}
	for _, list := range [][]variable{x.Args, x.Locals, x.Print} {
		for i := range list {
			n += 128 + 128*len(list[i].Children) + len(list[i].Line) + len(list[i].Value) + len(list[i].Type)
		}
	}
	return n
}

// addValues adds the values in the frame p to x: the values that were read for readValues, if it
// came so far.
func (w *Walker) addValues(x *Frame, p *logical.Frame) {
	if w.reader == nil {
		return
	}
	if p.Level < len(w.valued) {
		y := &w.valued[p.Level]
		x.Args, x.Locals, x.Print, x.FrameValues = y.Args, y.Locals, y.Print, y.FrameValues
		return
	}
	w.lines, w.texts = nil, nil // so that the values of the frames before go with these
	w.values(x, p)
}

// values reads the values in the frame p.
func (w *Walker) values(x *Frame, p *logical.Frame) {
	if !w.Flags.Values.Selects(p.Level, p.Function) {
		return
	}
	if x.Spent = w.printer.Budget.Spent(); x.Spent {
		x.Arguments, x.HasArguments = []byte("..."), w.Flags.Values.args || w.Flags.Values.locals
		return
	}
	var err error
	f := &w.valuing
	*f, err = w.reader.Frame(p, w.memory)
	defer f.Release()
	w.prints(x, f)
	if !w.Flags.Values.args && !w.Flags.Values.locals {
		return
	}
	if err != nil || !f.Known {
		x.NoValues, x.WantsLocals = true, w.Flags.Values.locals
		return
	}
	pr := &w.printer
	if !pr.Raw {
		f.HideDictionary()
	}
	first := len(w.texts)
	w.texts = markMoved(f, pr.AppendArguments(w.texts, f))
	x.Arguments, x.HasArguments = w.texts[first:len(w.texts):len(w.texts)], true
	if w.Flags.JSON {
		x.Args = w.variables(f, f.Arguments)
	}
	if !w.Flags.Values.locals {
		return
	}
	x.HasLocals = true
	if w.Flags.JSON {
		x.Locals = w.variables(f, f.Locals)
	} else {
		w.localLines(x, f)
	}
}

// markMoved adds a mark to the text of values if memory that they were read from is of another
// moment than the frame.
func markMoved(f *value.Frame, text []byte) []byte {
	if f.MovedOn() {
		text = append(text, movedOn...)
	}
	return text
}

const movedOn = " [moved on]"

// localLines adds the lines of a frame's local variables.
func (w *Walker) localLines(x *Frame, f *value.Frame) {
	first := len(w.lines)
	pr := &w.printer
	const most = 1 << 20 // what is in a room need not be copied when that grows
	for i := range f.Locals {
		v := &f.Locals[i]
		if len(w.texts) > most {
			w.texts = nil
		}
		before := len(w.texts)
		w.texts = pr.AppendLocal(w.texts, v)
		why := ""
		if w.Flags.Explain {
			_, at := pr.Shown(v)
			why = at.Why()
		}
		w.texts = markMoved(f, w.texts)
		w.lines = append(w.lines, line{w.texts[before:len(w.texts):len(w.texts)], why})
	}
	x.LocalLines = w.lines[first:len(w.lines):len(w.lines)]
}

// variables returns what a document has of variables.
func (w *Walker) variables(f *value.Frame, list []value.Variable) []variable {
	out := make([]variable, 0, len(list))
	pr := &w.printer
	for i := range list {
		if !pr.Budget.Spend(costField) {
			break
		}
		v := &list[i]
		name, at := pr.Shown(v)
		x := variable{Name: name, Block: v.Block, Line: pr.Local(v)}
		plain := x.Line
		if w.Flags.Explain {
			x.Why = at.Why()
		}
		if x.MovedOn = f.MovedOn(); x.MovedOn {
			x.Line += movedOn
		}
		w.describe(&x, &at)
		x.Value, x.Children = strings.TrimPrefix(plain, name+" = "), w.children(&at)
		out = append(out, x)
	}
	return out
}

// maxValueFrames bounds how many frames of a thread have values of the moment of its stack. Those
// further out may be marked.
const maxValueFrames = 2000

// readValues reads all values that are to be printed, so that the memory is copied in which they
// lie.
func (w *Walker) readValues() {
	if w.reader == nil {
		return
	}
	w.valued, w.lines, w.texts = w.valued[:0], w.lines[:0], w.texts[:0]
	level, size := 0, 0
	for f, err := range w.stack.AllOnce() {
		if err != nil || f.Level == maxValueFrames {
			return
		}
		w.room = w.view.Append(w.room[:0], level, f)
		for i := range w.room {
			w.valued = append(w.valued, Frame{})
			x := &w.valued[len(w.valued)-1]
			w.values(x, &w.room[i])
			size += x.valueSize()
		}
		if size > maxValued {
			return
		}
		level += len(w.room)
	}
}

// maxValueRetakes is how often a thread is read once more, at most, for its values to be of the
// moment of its stack.
const maxValueRetakes = 3

// retakeForValues reads the values of a thread. If memory that they lie in was read at another
// moment than the stack, it reads the thread once more, and the values while the thread is held:
// what was read of the program's files by then, need not be read again. If that does not help, the
// values are marked.
func (w *Walker) retakeForValues(th target.RunningThread) {
	if w.reader == nil {
		return
	}
	if !w.trimmed {
		w.trimmed = true
		w.Flags.Values.trim() // the stack has been walked: files were opened, and their tables read
		defer w.Flags.Values.trim()
	}
	w.readValues()
	for n := 0; th.MovedOn() && n < maxValueRetakes; n++ {
		err := th.Retake(func() {
			if w.stack.Reset(w.Target, th) != nil {
				return
			}
			w.memory = target.MemoryOf(w.Target, th)
			w.readValues()
		})
		if err != nil {
			return
		}
	}
}
