package tcl

import (
	"encoding/binary"
	"errors"
	"path"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds Tcl's run times.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "tcl" }

// large is how large a library is at least that may have Tcl in it and not in its name, bytes.
const large = 2 << 20

// Wants implements [language.Chooser]: Tcl's library is small, and so are programs that have Tcl in
// them.
func (Decorator) Wants(m *target.Module) bool {
	name := path.Base(m.Path)
	return m.Hi()-m.Lo() >= large || strings.Contains(name, "tcl") || !strings.Contains(name, ".so")
}

var identity = elf.Seldom("TclNRRunCallbacks")

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil || !im.MayHaveSymbol(identity) { // it is said elsewhere that a file cannot be read
		return nil, nil
	}
	found := im.Lookup(identity, 1)
	if len(found) == 0 {
		return nil, nil
	}
	if p.Arch.PtrSize != 8 || p.Arch.Order != binary.ByteOrder(binary.LittleEndian) {
		return nil, errors.New("the structures of Tcl are known of 64-bit little-endian processors alone")
	}
	return []language.Runtime{&runtime{arch: p.Arch, module: m, run: found[0].Addr + bias}}, nil
}

// runtime is Tcl in a process.
type runtime struct {
	arch   *arch.Arch
	module *target.Module
	run    uint64 // where TclNRRunCallbacks begins
	pages  pages.Spare
}

// isOwn reports whether a physical frame is in the code of the file that has Tcl.
func (r *runtime) isOwn(f *frame.Frame) bool {
	pc := f.AddressInBlock()
	return pc >= r.module.Lo() && pc < r.module.Hi() && f.Type() == frame.Normal
}
