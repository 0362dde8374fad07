package r

import (
	"errors"
	"sync/atomic"

	elffile "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds R.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "r" }

var identity = elffile.Seldom("R_GlobalContext")

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil || !im.MayHaveSymbol(identity) { // it is said elsewhere that a file cannot be read
		return nil, nil
	}
	r := &runtime{module: m, image: im, bias: bias}
	if r.context = r.symbol(identity); r.context == 0 {
		return nil, nil // the file uses R, and is not R
	}
	if !p.Arch.RContexts {
		return nil, errors.New("the layout of R's contexts is not known of this processor")
	}
	r.nilValue, r.inBytecode, r.srcref = r.symbol("R_NilValue"), r.symbol("R_InBCInterpreter"), r.symbol("R_Srcref")
	r.eval = r.symbol("Rf_eval")
	if r.nilValue == 0 || r.inBytecode == 0 || r.srcref == 0 {
		return nil, errors.New("its variables have no symbols")
	}
	return []language.Runtime{r}, nil
}

// runtime is R in a process.
type runtime struct {
	module *target.Module
	image  *elffile.Image
	bias   uint64

	context, nilValue, inBytecode, srcref uint64 // the addresses of variables
	eval                                  uint64 // and of a function, Rf_eval; 0 if that is not known

	layout atomic.Pointer[layout] // nil while it is not known
	pages  pages.Spare
}

// symbol returns the address of a symbol that R exports, 0 if there is none.
func (r *runtime) symbol(name string) uint64 {
	if s, ok := r.image.Exported(name); ok {
		return s.Addr + r.bias
	}
	return 0
}
