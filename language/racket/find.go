package racket

import (
	"errors"
	"path"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds the run times of Chez Scheme.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "racket" }

// Wants implements [language.Chooser]: Chez Scheme alone is small. Programs that were made with
// Racket (raco exe) have any name, but are no libraries.
func (Decorator) Wants(m *target.Module) bool {
	name := path.Base(m.Path)
	return strings.Contains(name, "scheme") || strings.Contains(name, "petite") || strings.Contains(name, "racket") ||
		m.Hi()-m.Lo() >= large && !strings.Contains(name, ".so")
}

// large is the size in memory from which on a module is looked into, bytes.
const large = 1 << 20

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil { // it is said elsewhere that a file cannot be read
		return nil, nil
	}
	enter, ok := im.Exported("S_call_help")
	if !ok {
		return nil, nil
	}
	if _, ok := im.Exported("Sscheme_init"); !ok {
		return nil, nil
	}
	if p.Arch.Chez == nil {
		return nil, errors.New("what Chez Scheme keeps in registers is not known of the processor")
	}
	r := &runtime{arch: p.Arch, module: m, code: p.Arch.Chez, writable: p.Writable, enter: enter.Addr + bias}
	if collect, ok := im.Exported("S_do_gc"); ok {
		r.collect = collect.Addr + bias
	}
	return []language.Runtime{r}, nil
}

// runtime is Chez Scheme in a process.
type runtime struct {
	arch     *arch.Arch
	module   *target.Module
	code     *arch.ChezCode
	writable func() []target.Mapping // nil if nobody knows it
	pages    pages.Spare

	enter   uint64 // where S_call_help begins, by which C enters Scheme
	collect uint64 // where S_do_gc begins, the garbage collector; 0 if that is not known
}

// isOwn reports whether a physical frame is in the code of the run time.
func (r *runtime) isOwn(f *frame.Frame) bool {
	pc := f.AddressInBlock()
	return pc >= r.module.Lo() && pc < r.module.Hi() && f.Type() == frame.Normal
}

// runs reports whether a physical frame is of the function that begins at an address.
func (r *runtime) runs(f *frame.Frame, at uint64) bool {
	begin, ok := f.Function()
	return ok && begin == at && r.isOwn(f)
}
