package symbol

import (
	"errors"
	"fmt"

	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// ErrNoFrameBase says that no debug information tells the frame base of a function at an address.
var ErrNoFrameBase = errors.New("debug information has no frame base here")

// State is what a frame base may be computed from: the registers of THIS frame, its CFA, and
// memory. A nil function knows nothing.
type State struct {
	Register func(trad.Reg) (uint64, bool)
	CFA      func() (uint64, bool)
	Memory   target.Memory
}

// FrameBase returns the base that DW_AT_frame_base (DWARF 5, section 3.3.5) gives the frame of the
// function at pc, an address in block. Debug information locates the function's arguments and local
// variables by it. For an inlined call, that is the base of the function around it. The error wraps
// [ErrNoFrameBase], or [trad.ErrUnavailable] if at lacks what the base is computed from.
func (s *Symbolizer) FrameBase(modules *target.Modules, pc uint64, at State) (uint64, error) {
	m := modules.Find(pc)
	if m == nil {
		return 0, ErrNoFrameBase
	}
	mod := s.tables(m).elf
	if mod.image == nil {
		return 0, ErrNoFrameBase
	}
	info := mod.dwarf()
	if info == nil {
		return 0, ErrNoFrameBase
	}
	var x *Expression
	var err error
	info.ask(func(d *debugInfo) { x, err = d.frameBase(pc - mod.bias) })
	switch {
	case err != nil:
		return 0, fmt.Errorf("frame base of the function at %#x: %w", pc, err)
	case x == nil:
		return 0, ErrNoFrameBase
	}
	base, err := x.baseValue(mod.bias, at)
	if err != nil {
		return 0, fmt.Errorf("frame base of the function at %#x: %w", pc, err)
	}
	return base, nil
}

// baseValue computes a frame base.
func (x *Expression) baseValue(bias uint64, at State) (uint64, error) {
	env := &dwarfexpr.Context{Bias: bias, Address: x.Address}
	if at.Register != nil {
		env.Register = func(r trad.Reg) (uint64, error) {
			if v, ok := at.Register(r); ok {
				return v, nil
			}
			return 0, trad.ErrUnavailable
		}
	}
	if at.CFA != nil {
		env.CFA = func() (uint64, error) {
			if v, ok := at.CFA(); ok {
				return v, nil
			}
			return 0, trad.ErrUnavailable
		}
	}
	if at.Memory != nil {
		env.Memory = func(addr uint64, b []byte) error {
			_, err := at.Memory.ReadMemory(addr, b)
			return err
		}
	}
	return x.evaluated().Value(env)
}

// frameBase returns the frame base of the function at a link-time address; nil if there is none.
func (d *debugInfo) frameBase(addr uint64) (x *Expression, err error) {
	at, ok := d.functionAt(addr)
	if !ok {
		return nil, nil
	}
	b := at.body()
	if b == nil {
		return nil, nil
	}
	code, err := at.d.located(at.u, b.functions[0].frameBase, addr)
	if err != nil || len(code) == 0 {
		return nil, err
	}
	return at.d.expression(at.u, code), nil
}
