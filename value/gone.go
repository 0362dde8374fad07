package value

import (
	"errors"

	"github.com/sfwalk/sfwalk/internal/dwarfexpr"
)

// gone is an error for which a value counts as optimized out, as in GDB: what it would be computed from is lost.
type gone struct{ why error }

func (e *gone) Error() string     { return e.why.Error() }
func (e *gone) Unwrap() error     { return e.why }
func (e *gone) Is(err error) bool { return err == ErrOptimizedOut }

func isUnavailable(err error) bool {
	return errors.Is(err, dwarfexpr.ErrUnavailable) || errors.Is(err, ErrNotSaved)
}

func wrapGone(err error) error { return &gone{err} }
