package libcxx

import (
	"strings"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// Deref implements value.Operators: what the library's pointers point to is not known.
func (Printer) Deref(v *value.Value) (to value.Value, ok bool, err error) { return to, false, nil }

// Index implements value.Operators: the children of containers are counted.
func (Printer) Index(v *value.Value, i int64, checked bool) (x value.Value, ok bool, err error) {
	return x, false, nil
}

// Run implements value.Operators.
func (Printer) Run(v *value.Value) (run value.Run, ok bool, err error) { return run, false, nil }

// Method implements value.Operators: it knows how many elements a container has.
func (p Printer) Method(v *value.Value, method string) (x value.Value, ok bool, err error) {
	t := v.Type.Strip()
	if method != "size" && method != "length" || p.For(t) == nil {
		return x, false, nil
	}
	name, _, _ := strings.Cut(t.Name, "<")
	n, ok := cxx.Count(v, name)
	return t.Reader().Number("unsigned long", n), ok, v.Err()
}
