package value

import (
	"errors"

	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
)

// optimizedOut is an error for which a value counts as optimized out, as in GDB: what it would be
// computed from is lost.
type optimizedOut struct{ why error }

func (e *optimizedOut) Error() string     { return e.why.Error() }
func (e *optimizedOut) Unwrap() error     { return e.why }
func (e *optimizedOut) Is(err error) bool { return err == ErrOptimizedOut }

func isUnavailable(err error) bool {
	return errors.Is(err, dwarfexpr.ErrUnavailable) || errors.Is(err, ErrNotSaved)
}

// countedOut returns the error of a value that counts as optimized out.
func (x *expression) countedOut(why error) error {
	if x.out == nil || !dwarfexpr.Same(x.out.why, why) {
		x.out = &optimizedOut{why}
	}
	return x.out
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
