package golang

import (
	"reflect"

	"github.com/sfwalk/sfwalk/value"
)

// Deref implements value.Operators: Go's own operators do what C's do.
func (Printer) Deref(v *value.Value) (to value.Value, ok bool, err error) { return to, false, nil }

// Index implements value.Operators.
func (Printer) Index(v *value.Value, i int64, checked bool) (x value.Value, ok bool, err error) {
	return x, false, nil
}

// Run implements value.Operators.
func (Printer) Run(v *value.Value) (run value.Run, ok bool, err error) { return run, false, nil }

// Method implements value.Operators, for len of maps, and len and cap of channels.
func (Printer) Method(v *value.Value, name string) (x value.Value, ok bool, err error) {
	if v.Type.Language() != "go" {
		return x, false, nil
	}
	number := func(n uint64) value.Value { return v.Type.Reader().Number("long", int64(n)) }
	kind, _ := v.Type.GoKind()
	switch {
	case kind == reflect.Map && name == "len":
		n, ok := length(v)
		return number(n), ok, nil
	case kind == reflect.Chan && (name == "len" || name == "cap"):
		addr, err := v.Uint()
		if err != nil || addr == 0 {
			return number(0), err == nil, err
		}
		member := map[string]string{"len": "qcount", "cap": "dataqsiz"}[name]
		c := v.Deref()
		m, ok := c.Member(member)
		n, err := m.Uint()
		return number(n), ok && err == nil, nil
	}
	return x, false, nil
}
