package guile

import (
	"encoding/binary"
	"errors"
	"path"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds Guile's run times.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "guile" }

// Wants implements [language.Chooser]: Guile is a library, whose name tells the release.
func (Decorator) Wants(m *target.Module) bool {
	return strings.HasPrefix(path.Base(m.Path), "libguile-")
}

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil { // it is said elsewhere that a file cannot be read
		return nil, nil
	}
	call, ok := im.Exported("scm_call_n")
	switch {
	case !ok:
		return nil, nil
	case !strings.HasPrefix(path.Base(m.Path), "libguile-3.0."):
		return nil, errors.New("the structures of Guile are known of 3.0 alone")
	case p.Arch.PtrSize != 8 || p.Arch.Order != binary.ByteOrder(binary.LittleEndian):
		return nil, errors.New("the structures of Guile are known of 64-bit little-endian processors alone")
	}
	return []language.Runtime{&runtime{arch: p.Arch, module: m, call: call.Addr + bias, left: budget{mostTexts, mostEntries}}}, nil
}

// runtime is Guile in a process.
type runtime struct {
	arch   *arch.Arch
	module *target.Module
	call   uint64 // where scm_call_n begins
	pages  pages.Spare

	mu     sync.Mutex
	images []*image // that were found before
	none   []name   // where no image is
	left   budget
	full   bool // images were left out, for there are too many
}

// isOwn reports whether a physical frame is in the code of Guile's library.
func (r *runtime) isOwn(f *frame.Frame) bool {
	pc := f.AddressInBlock()
	return r.has(pc) && f.Type() == frame.Normal
}

// has reports whether an address is in Guile's library.
func (r *runtime) has(addr uint64) bool { return addr >= r.module.Lo() && addr < r.module.Hi() }
