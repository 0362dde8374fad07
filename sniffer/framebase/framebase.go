package framebase

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the base sniffer. Several tables may have the same one.
type Sniffer struct {
	Symbols *symbol.Symbolizer
}

// Name implements [frame.BaseSniffer].
func (*Sniffer) Name() string { return "dwarf" }

// SniffBase implements [frame.BaseSniffer]. It knows a frame whose base it can compute.
func (s *Sniffer) SniffBase(this *frame.Frame) bool {
	_, err := s.ThisBase(this)
	return err == nil
}

// ThisBase implements [frame.BaseSniffer]: it returns DW_AT_frame_base of the function that THIS
// runs. In an inlined call, that is the function around it. The error wraps [symbol.ErrNoFrameBase]
// or [trad.ErrUnavailable].
func (s *Sniffer) ThisBase(this *frame.Frame) (uint64, error) {
	if s.Symbols == nil || this.Type() == frame.SigTramp {
		return 0, symbol.ErrNoFrameBase
	}
	return s.Symbols.FrameBase(this.Stack().Modules(), this.AddressInBlock(), symbol.State{
		Register: func(r trad.Reg) (uint64, bool) {
			v := this.Register(r)
			return v.Bits, v.Known()
		},
		CFA:    this.CFA,
		Memory: this.Stack().Memory(),
	})
}

// ThisLocals implements [frame.BaseSniffer]. DWARF locates local variables by the frame's base.
func (s *Sniffer) ThisLocals(this *frame.Frame) (uint64, error) { return s.ThisBase(this) }

// ThisArgs implements [frame.BaseSniffer]. DWARF locates arguments by the frame's base.
func (s *Sniffer) ThisArgs(this *frame.Frame) (uint64, error) { return s.ThisBase(this) }
