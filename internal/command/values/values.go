package values

import (
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// Variable is an argument or a local variable.
type Variable struct {
	Name     string       `json:"name,omitempty"`
	Text     string       `json:"expression,omitempty"` // instead of the name
	Type     string       `json:"type"`
	Value    string       `json:"value"`
	Block    int          `json:"block,omitempty"`
	Address  *address.Hex `json:"address,omitempty"`
	Register string       `json:"register,omitempty"`
	// Children are the parts of a struct, an array or a container.
	Children []Child `json:"children,omitempty"`
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

// Shown is what is shown of the values in a frame: in a document, or as text.
type Shown struct {
	Args   []Variable `json:"args,omitempty"`
	Locals []Variable `json:"locals,omitempty"`
	Print  []Variable `json:"print,omitempty"`

	Arguments    []byte `json:"-"` // valid where HasArguments is set
	HasArguments bool   `json:"-"`
	LocalLines   []line `json:"-"` // valid where HasLocals is set
	HasLocals    bool   `json:"-"`
	NoValues     bool   `json:"-"` // no debug information has them
	Spent        bool   `json:"-"` // the values of the frames before have taken too much
	WantsLocals  bool   `json:"-"` // local variables are asked for
}

// Reader reads the values in the frames of one stack after the other, as the flags ask for it.
type Reader struct {
	// Evaluate evaluates an expression in a frame, and may run functions of the process; nil if
	// expressions are only read.
	Evaluate func(r *value.Reader, f *value.Frame, text string) (value.Value, error)

	flags         *Flags
	json, explain bool
	arch          *arch.Arch
	reader        *value.Reader
	printer       value.Printer // has the budget of reader
	memory        target.Memory // of the stack
	frame         value.Frame   // whose values are being read
	lines         []line        // of local variables
	texts         []byte        // of arguments and lines
}

// NewReader returns a reader of the values of t; nil if none is asked for. budget is what the
// values of all readers may take; json and explain are the flags of these names.
func NewReader(flags *Flags, t target.Target, symbols *symbol.Symbolizer, budget *value.Budget, json, explain bool) *Reader {
	if !flags.Any() {
		return nil
	}
	r := &Reader{flags: flags, json: json, explain: explain, arch: t.Arch(), printer: flags.printer, reader: value.NewReader(t, symbols, printers.All())}
	r.printer.Budget, r.reader.Budget = budget, budget
	return r
}

// Begin begins a stack, whose memory is given. The values of the stack before go.
func (r *Reader) Begin(memory target.Memory) {
	if r != nil {
		r.memory, r.lines, r.texts = memory, r.lines[:0], r.texts[:0]
	}
}

// Anew begins new texts: the values of the frames before stay as long as their frames.
func (r *Reader) Anew() { r.lines, r.texts = nil, nil }

// NewBudget returns what the values of a target may take.
func NewBudget() *value.Budget { return value.NewBudget(maxValueWork) }

// maxValueWork bounds the values of a target, in units of [value.Budget]: some three seconds, or so
// many bytes of text.
const maxValueWork = 48 << 20

// costField is what a variable, or a part of one, costs beside its value in a document.
const costField = 128

// Size returns about how much memory the texts of the values take.
func (x *Shown) Size() int {
	n := 64 + len(x.Arguments)
	for i := range x.LocalLines {
		n += 32 + len(x.LocalLines[i].Text) + len(x.LocalLines[i].Why)
	}
	for _, list := range [][]Variable{x.Args, x.Locals, x.Print} {
		for i := range list {
			n += 128 + 128*len(list[i].Children) + len(list[i].Line) + len(list[i].Value) + len(list[i].Type)
		}
	}
	return n
}

// Read reads the values in the frame p.
func (r *Reader) Read(x *Shown, p *logical.Frame) {
	if !r.flags.Selects(p.Level, p.Function) {
		return
	}
	if x.Spent = r.printer.Budget.Spent(); x.Spent {
		x.Arguments, x.HasArguments = []byte("..."), r.flags.args || r.flags.locals
		return
	}
	var err error
	f := &r.frame
	*f, err = r.reader.Frame(p, r.memory)
	defer f.Release()
	r.prints(x, f)
	if !r.flags.args && !r.flags.locals {
		return
	}
	if err != nil || !f.Known {
		x.NoValues, x.WantsLocals = true, r.flags.locals
		return
	}
	pr := &r.printer
	if !pr.Raw {
		f.HideDictionary()
	}
	first := len(r.texts)
	r.texts = markMoved(f, pr.AppendArguments(r.texts, f))
	x.Arguments, x.HasArguments = r.texts[first:len(r.texts):len(r.texts)], true
	if r.json {
		x.Args = r.variables(f, f.Arguments)
	}
	if !r.flags.locals {
		return
	}
	x.HasLocals = true
	if r.json {
		x.Locals = r.variables(f, f.Locals)
	} else {
		r.localLines(x, f)
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
func (r *Reader) localLines(x *Shown, f *value.Frame) {
	first := len(r.lines)
	pr := &r.printer
	const most = 1 << 20 // what is in a room need not be copied when that grows
	for i := range f.Locals {
		v := &f.Locals[i]
		if len(r.texts) > most {
			r.texts = nil
		}
		before := len(r.texts)
		r.texts = pr.AppendLocal(r.texts, v)
		why := ""
		if r.explain {
			_, at := pr.Shown(v)
			why = at.Why()
		}
		r.texts = markMoved(f, r.texts)
		r.lines = append(r.lines, line{r.texts[before:len(r.texts):len(r.texts)], why})
	}
	x.LocalLines = r.lines[first:len(r.lines):len(r.lines)]
}

// variables returns what a document has of variables.
func (r *Reader) variables(f *value.Frame, list []value.Variable) []Variable {
	out := make([]Variable, 0, len(list))
	pr := &r.printer
	for i := range list {
		if !pr.Budget.Spend(costField) {
			break
		}
		v := &list[i]
		name, at := pr.Shown(v)
		x := Variable{Name: name, Block: v.Block, Line: pr.Local(v)}
		plain := x.Line
		if r.explain {
			x.Why = at.Why()
		}
		if x.MovedOn = f.MovedOn(); x.MovedOn {
			x.Line += movedOn
		}
		r.describe(&x, &at)
		x.Value, x.Children = strings.TrimPrefix(plain, name+" = "), r.children(&at)
		out = append(out, x)
	}
	return out
}
