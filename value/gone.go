package value

import (
	"errors"

	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
)

// gone is an error for which a value counts as optimized out, as in GDB: what it would be computed
// from is lost.
type gone struct{ why error }

func (e *gone) Error() string     { return e.why.Error() }
func (e *gone) Unwrap() error     { return e.why }
func (e *gone) Is(err error) bool { return err == ErrOptimizedOut }

func isUnavailable(err error) bool {
	return errors.Is(err, dwarfexpr.ErrUnavailable) || errors.Is(err, ErrNotSaved)
}

// wrapGone returns the error of a value that counts as optimized out.
func (x *expression) wrapGone(why error) error {
	if x.gone == nil || !dwarfexpr.Same(x.gone.why, why) {
		x.gone = &gone{why}
	}
	return x.gone
}

// Why says why a value that is printed as "<optimized out>" or "<unavailable>" is not known: what
// it would be computed from, and what of that is missing. It is "" of a value of which something is
// known, and of one for which the compiler has no location.
func (v *Value) Why() string {
	err := v.Err()
	switch {
	case err == nil, err == ErrOptimizedOut, err == ErrUnavailable, err == ErrSynthetic, err == ErrNotSaved:
		return ""
	}
	return err.Error()
}
