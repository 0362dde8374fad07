package rust

import (
	"errors"
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// Deref implements value.Operators, for Rc, Arc and the guards of a RefCell.
func (p Printer) Deref(v *value.Value) (to value.Value, ok bool, err error) {
	if p.For(v.Type.Strip()) == nil {
		return to, false, nil
	}
	if c, found := (&value.Printer{}).Contents(v); found && !c.Pairs {
		for x := range c.Items {
			if (x.Name == "value" || x.Name == "*value") && x.Value.Type != nil {
				return x.Value, true, nil
			}
			break
		}
	}
	return to, false, nil
}

// Run implements value.Operators, for slices, Vec and String.
func (Printer) Run(v *value.Value) (run value.Run, ok bool, err error) {
	t := v.Type.Strip()
	if t.Kind != value.Struct || t.Language() != "rust" {
		return run, false, nil
	}
	if isSlice(t) {
		run, err = slice(v)
		run.Text = strings.HasSuffix(t.Name, "str")
		return run, err == nil, err
	}
	if bytes, has := v.Member("vec"); has { // of a String
		run, ok = vec(&bytes)
		run.Text = true
		return run, ok, nil
	}
	run, ok = vec(v)
	run.Elem = t.Argument(0)
	return run, ok && run.Elem != nil, nil
}

// Index implements value.Operators, for slices that no printer shows, such as Box<[T]>.
func (p Printer) Index(v *value.Value, i int64, checked bool) (x value.Value, ok bool, err error) {
	t := v.Type.Strip()
	if t.Language() != "rust" || !isSlice(t) || p.For(t) != nil {
		return x, false, nil
	}
	run, err := slice(v)
	if err != nil {
		return x, false, err
	}
	if i < 0 || i >= run.Len {
		return x, false, errors.New("Index greater than length")
	}
	size, _ := run.Elem.SizeOf()
	return v.At(run.Elem, run.Addr+uint64(i)*size), true, nil
}

// Method implements value.Operators: methods of Rust are not evaluated.
func (Printer) Method(v *value.Value, name string) (x value.Value, ok bool, err error) {
	return x, false, nil
}
