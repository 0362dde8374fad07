//go:build linux && (amd64 || arm64)

package delve

import (
	"cmp"
	"fmt"
	"io"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// Delve reads the variables of Go's frames. Those of C and C++, and of any other language, are read
// by package value.

// IsForeign reports whether the frame is of a function that is not Go's. Then [Frame.Values] has
// its variables.
func (f *Frame) IsForeign() bool {
	return f.Err == "" && f.logical.Physical != nil && !f.subject.t.IsGo(f.logical.AddressInBlock)
}

// Values returns the arguments and local variables of a frame that is not Go's. They are valid
// until the process runs. The error wraps [ErrNoVariables] and says why there are none.
func (f *Frame) Values() (value.Frame, error) {
	name := f.Function.Name()
	switch {
	case f.Err != "":
		return value.Frame{}, fmt.Errorf("the stack ends before this frame: %w", ErrNoVariables)
	case f.Language != nil:
		return value.Frame{}, fmt.Errorf("%s: a function of %s, whose variables are texts: %w", name, f.Language.Language, ErrNoVariables)
	case !f.IsForeign():
		return value.Frame{}, fmt.Errorf("%s: a function of Go's, of which Delve has the variables: %w", name, ErrNoVariables)
	case f.logical.Type == frame.SigTramp:
		return value.Frame{}, fmt.Errorf("%s: no function: %w", name, ErrNoVariables)
	}
	t := f.subject.t
	of, err := t.Values().Frame(&f.logical, t.Memory())
	if err != nil {
		return value.Frame{}, fmt.Errorf("%s: %w: %w", name, ErrNoVariables, err)
	}
	if !of.Known {
		return value.Frame{}, fmt.Errorf("%s: code without debug information: %w", name, ErrNoVariables)
	}
	return of, nil
}

// Evaluate returns the value of an expression of C or C++ in a frame that is not Go's, see
// [value.Frame.Evaluate]. The error says why there is none.
func (f *Frame) Evaluate(expression string) (value.Value, error) {
	of, err := f.Values()
	if err != nil {
		return value.Value{}, err
	}
	v, err := of.Evaluate(expression)
	if err != nil {
		return value.Value{}, fmt.Errorf("%s: %w", f.Function.Name(), err)
	}
	return v, nil
}

// Set gives an object of a frame that is not Go's the value of an expression, as an assignment of
// its language does. Object and value are expressions of [Frame.Evaluate]. Set writes numbers,
// characters, enumerators and pointers that are in memory. It does not write registers, which
// frames further in have saved, nor bit-fields, nor what has parts.
func (f *Frame) Set(object, expression string) error {
	of, err := f.Values()
	if err != nil {
		return err
	}
	name := f.Function.Name()
	to, err := of.Evaluate(object)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if kind := to.Type.Strip().Kind; kind == value.Reference || kind == value.RvalueReference {
		to = to.Deref()
	}
	if err := to.Err(); err != nil {
		return fmt.Errorf("%s: %s is not set: %w", name, object, err)
	}
	switch to.Type.Strip().Kind {
	case value.Integer, value.Char, value.Bool, value.Enum, value.Float, value.Pointer:
	default:
		return fmt.Errorf("%s: %s is not set: it is a %s, and only numbers and pointers are", name, object, to.Type)
	}
	switch {
	case to.Place != value.InMemory:
		return fmt.Errorf("%s: %s is not set: it is in no memory", name, object)
	case to.Bits > 0:
		return fmt.Errorf("%s: %s is not set: it is a bit-field", name, object)
	}
	v, err := of.EvaluateAs(expression, to.Type)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	b, err := v.Bytes()
	if err != nil {
		return fmt.Errorf("%s: %s: %w", name, expression, err)
	}
	if n, err := f.subject.t.Proc.Memory().WriteMemory(to.Addr, b); err != nil || n < len(b) {
		return fmt.Errorf("%s: %s is not set: write %d bytes at %#x: %w", name, object, len(b), to.Addr, cmp.Or(err, io.ErrShortWrite))
	}
	return nil
}

// Values returns the reader of the variables of frames that are not Go's, at this stop of the
// process. After [Target.Refresh], call it again.
func (t *Target) Values() *value.Reader {
	if t.values == nil {
		t.values = value.NewReader(t, t.symbols, printers.All())
	}
	return t.values
}

// overlay notes the logical frames of list, which has the calls inlined in f and f last. If Delve
// has others, those are returned that the engine has.
func (k *delveStack) overlay(f *frame.Frame, list []Frame) []Frame {
	if k.t.IsGo(block(f)) {
		return list
	}
	at := k.t.view.AppendOwn(nil, 0, f)
	if len(at) != len(list) {
		ours := k.located(f)
		ours[len(ours)-1].DelveFrames = list[len(list)-1].DelveFrames
		return ours
	}
	for i := range at {
		list[i].logical = at[i]
		if fn := list[i].Function; fn == nil || fn.Name_ == "" {
			list[i].Function = k.t.location(f.PC(), block(f), &at[i].Location, false).Function
		}
	}
	return list
}
