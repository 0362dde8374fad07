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
	table  *gopclntab.Table
	bias   uint64
	module []uint64
	err    error
}

// Table returns the module's table and its load bias: a run-time address is an address in the table
// plus bias. Only the first call looks for the table. The error wraps [ErrNotGo] if the module has
// no table, like most modules. Other errors describe a fault in the table.
func Table(m *target.Module) (t *gopclntab.Table, bias uint64, err error) {
	a := find(m)
	return a.table, a.bias, a.err
}

// ModuleData returns the first words of the struct moduledata of a module's table, as far as they
// are known. An address among them is the file's own. There are none if the module has no
// table that [Table] returns, or one of a release before Go 1.18.
func ModuleData(m *target.Module) []uint64 { return find(m).module }

func find(m *target.Module) *answer {
	return m.Memo(key{}, func() any {
		im, bias, err := m.Image()
		if err != nil {
			return &answer{err: err}
		}
		f := finder{im: im, bias: bias, left: maxSearch}
		t, err := f.find()
		return &answer{t, bias, f.module, err}
	}).(*answer)
}
