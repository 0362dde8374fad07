package goruntime

import (
	"errors"

	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/target"
)

// ErrNotGo says that a module has no Go code.
var ErrNotGo = errors.New("no Go code")

// key is the key of the answer among the module's memos.
type key struct{}

type answer struct {
	table *gopclntab.Table
	bias  uint64
	err   error
}

// Table returns the module's table and its load bias: a run-time address is an address in the table
// plus bias. Only the first call looks for the table. The error wraps [ErrNotGo] if the module has
// no table, like most modules. Other errors describe a fault in the table.
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
