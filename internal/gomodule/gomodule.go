package gomodule

import (
	"errors"

	"github.com/sfwalk/sfwalk/gopclntab"
	"github.com/sfwalk/sfwalk/target"
)

// ErrNotGo says that a module has no Go code.
var ErrNotGo = errors.New("no Go code")

// key is what the module keeps the answer under.
type key struct{}

type answer struct {
	table *gopclntab.Table
	bias  uint64
	err   error
}

// Table returns the module's table and its load bias: run-time addresses are the
// table's plus bias. The first call looks for it, others cost no more than a look-up.
// The error wraps [ErrNotGo] where the module has none, as most; others say what is wrong
// with the one that it has.
func Table(m *target.Module) (t *gopclntab.Table, bias uint64, err error) {
	a := m.Memo(key{}, func() any {
		im, bias, err := m.Image()
		if err != nil {
			return &answer{err: err}
		}
		f := finder{im: im, bias: bias, left: maxSearch}
		t, err := f.find()
		return &answer{t, bias, err}
	}).(*answer)
	return a.table, a.bias, a.err
}
