package values

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/value"
)

// printed notes which of the expressions of --print some frame could evaluate. All walkers share
// it.
type printed struct {
	mu  sync.Mutex
	why map[string]error // of expressions without a value so far: why; nil for an expression that has one
}

func (p *printed) note(text string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		p.why = make(map[string]error)
	}
	before, known := p.why[text]
	switch {
	case !known, err == nil:
		p.why[text] = err
	case before != nil && errors.Is(before, value.ErrNotInScope) && !errors.Is(err, value.ErrNotInScope):
		p.why[text] = err // this says more than that a frame lacks a name
	}
}

// verdict returns an error if an expression has no value in any frame.
func (p *printed) verdict() (err error) {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for text, why := range p.why {
		if why != nil {
			err = errors.Join(err, fmt.Errorf("--print %s: %w", text, withoutText(why)))
		}
	}
	return err
}

// prints evaluates the expressions of --print in a frame. An expression with names that the frame
// lacks is left out, but in JSON where the flags name frames.
func (r *Reader) prints(x *Shown, f *value.Frame) {
	flags := r.flags
	for _, text := range flags.Prints {
		v, err := r.evaluate(f, text)
		if err == nil && v.Err() != nil {
			if memory := (*value.MemoryError)(nil); errors.As(v.Err(), &memory) {
				err = memory
			}
		}
		flags.printed.note(text, err)
		if errors.Is(err, value.ErrNotInScope) && (len(flags.frames) == 0 || !r.json) {
			continue // if no frame has the names, that is said once, in the end
		}
		y := Variable{Text: text}
		if err != nil {
			y.Error = withoutText(err).Error()
			y.Line = text + " = <error: " + y.Error + ">"
		} else {
			r.describe(&y, &v)
			y.Value = r.printer.Print(&v)
			if r.json {
				y.Children = r.children(&v)
			}
			y.Line = text + " = " + y.Value
		}
		if y.MovedOn = f.MovedOn(); y.MovedOn {
			y.Line += movedOn
		}
		x.Print = append(x.Print, y)
	}
}

// malformed returns what is wrong with an expression in any language, whatever its names stand for.
func malformed(text string) error {
	_, err := expression.Guess(text)
	for _, language := range []string{"c", "c++", "rust", "go", "fortran"} {
		if err == nil {
			break
		}
		in := expression.Scope{IsType: func(string) bool { return true }, IsValue: func(string) bool { return true }, Language: language}
		if _, wrong := expression.ParseWith(text, in); wrong == nil {
			return nil
		}
	}
	return err
}

// evaluate evaluates an expression in a frame.
func (r *Reader) evaluate(f *value.Frame, text string) (value.Value, error) {
	if r.Evaluate == nil {
		return f.Evaluate(text)
	}
	return r.Evaluate(r.reader, f, text)
}

// describe fills in the type of a value, and where it is.
func (r *Reader) describe(x *Variable, v *value.Value) {
	x.Type = v.Type.String()
	switch v.Place {
	case value.InMemory:
		x.Address = new(address.At(v.Addr))
	case value.InRegister:
		x.Register = r.arch.RegName(v.Reg)
	}
}

// withoutText returns an error about an expression without the expression, which is printed before
// it.
func withoutText(err error) error {
	var e *expression.Error
	if errors.As(err, &e) {
		return fmt.Errorf("%s at column %d", strings.TrimSuffix(e.What, "."), e.Column)
	}
	return err
}
