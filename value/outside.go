package value

import (
	"fmt"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// Outside evaluates a part of an expression that takes more than reading: a call. ok is false if this package shall
// evaluate it.
type Outside func(n *syntax.Node) (v Value, ok bool, err error)

// Parse parses an expression with the names of types and variables that the frame has.
func (f *Frame) Parse(text string) (*syntax.Node, error) {
	_, n, err := f.parse(text)
	return n, err
}

// EvaluateNode is [Frame.Evaluate] for a part of an expression that was parsed. outside is asked first for each part.
func (f *Frame) EvaluateNode(text string, n *syntax.Node, outside Outside) (Value, error) {
	if f.in == nil {
		return Value{}, fmt.Errorf("%q: the frame has no registers: %w", text, ErrNotInScope)
	}
	e := &evaluation{r: f.in.r, f: f, c: f.in, text: text, outside: outside}
	return e.value(n)
}

// Made returns a value of a type that is in no memory: b has its bytes. What it points to is where the frame's
// pointers point.
func (f *Frame) Made(t *Type, b []byte) Value {
	return Value{Type: t, bytes: b, read: true, mem: f.in.mem, frame: f.in}
}

// Number returns one of C's own types by its name, "unsigned long"; nil if there is none of the name.
func (f *Frame) Number(name string) *Type { return f.in.r.basic(name) }

// Referred returns what a reference refers to, and other values as they are.
func (v *Value) Referred() Value { return referred(*v) }
