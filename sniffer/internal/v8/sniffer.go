package v8

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state.
type Sniffer struct {
	// Records reports whether the frame record at fp, which must lie outward of sp, leads on.
	Records func(q *frame.Query, fp, sp uint64) bool
}

func (*Sniffer) Name() string { return "v8" }

const (
	unknown  = frame.Answer("V8's exits on this architecture are not known")
	inFile   = frame.Answer("PC is in a file's code")
	noExit   = frame.Answer("at PC is no exit to V8's deoptimizer")
	noRecord = frame.Answer("the frame pointer leads to no frame record")
)

// Sniff implements [frame.Sniffer].
func (s *Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	a := q.Arch
	if a.V8Exit == nil {
		return trad.Row{}, unknown
	}
	if q.Module != nil {
		if _, _, err := q.Module.PeekImage(); err == nil {
			return trad.Row{}, inFile
		}
	}
	if !q.AmongV8Exits(q.PC) {
		return trad.Row{}, noExit
	}
	fp, sp := q.This.Register(a.FP), q.This.Register(a.SP)
	if !fp.Known() || !sp.Known() || !s.Records(q, fp.Bits, sp.Bits) {
		return trad.Row{}, noRecord
	}
	return trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Once,
		CFA:    trad.Rule{Kind: trad.InReg, Reg: a.FP, Off: a.FrameRecord},
		RA:     trad.Rule{Kind: trad.Saved, Off: int32(a.PtrSize) - a.FrameRecord},
		FP:     trad.Rule{Kind: trad.Saved, Off: -a.FrameRecord},
		Others: lost,
	}, frame.Claimed
}

// lost says that V8's code preserves no registers.
var lost = &trad.OtherRules{Default: trad.Undefined}
