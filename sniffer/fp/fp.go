package fp

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	notPromised = frame.Answer("no SFrame section with SFRAME_F_FRAME_POINTER speaks for the PC")
	unknownFP   = frame.Answer("the frame pointer is not known")
	misaligned  = frame.Answer("the frame pointer is not aligned")
	inward      = frame.Answer("the frame pointer does not point outward on the stack")
	unreadable  = frame.Answer("the frame pointer points to memory that cannot be read")
	notCode     = frame.Answer("the return address found through the frame pointer is not in executable memory")
	notACall    = frame.Answer("the return address found through the frame pointer does not follow a call")
	unsupported = frame.Answer("the architecture has no frame records at the frame pointer")
	chainInward = frame.Answer("the saved frame pointer does not point outward on the stack")
	notSetUp    = frame.Answer("at PC the frame pointer is not, or not yet, or no longer, the function's own")
	leadsPast   = frame.Answer("the frame pointer leads past code that keeps no frame record: the stack is scanned")
	noRecords   = frame.Answer("programs of Windows for this processor keep no frame records")
	notKnown    = frame.Answer("the code at PC does not tell whether the function's frame pointer is set up")
)

const (
	maxFrameSize = 1 << 30 // bytes from SP: a frame pointer farther away belongs to another stack
)

// Promise reports whether the SFrame section of the module at q.AddressInBlock promises
// that functions without an FDE keep frame pointers, and has no FDE for the address.
type Promise func(q *frame.Query) bool

// Flagged is the sniffer for modules that promise frame pointers.
type Flagged struct {
	Promise Promise
	// Better are sniffers whose rows count more than the promise, unless the rows are guesses. Some
	// functions keep no frame pointer in spite of the promise, or it does not tell the CFA.
	// Moreover, the promise holds only for callers. In an innermost frame only a table or the code
	// at PC tells whether the frame pointer is set up.
	Better []frame.Sniffer
}

func (*Flagged) Name() string { return "fp" }

func (s *Flagged) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if !s.Promise(q) {
		return trad.Row{}, notPromised
	}
	byChain, answer := chain(q, trad.Once)
	if answer != frame.Claimed {
		return trad.Row{}, answer
	}
	for _, better := range s.Better {
		row, answer := better.Sniff(q)
		switch {
		case answer != frame.Claimed || row.Flags&trad.Guess != 0:
		case !atRecord(q, &row):
			return trad.Row{}, notSetUp
		default:
			return row, frame.Claimed
		}
	}
	if len(s.Better) > 0 && q.Innermost() {
		return trad.Row{}, notKnown
	}
	return byChain, frame.Claimed
}

// atRecord reports whether the frame pointer points to the frame record of THIS: the place where,
// by row, THIS has saved its caller's frame pointer and its return address.
func atRecord(q *frame.Query, row *trad.Row) bool {
	if row.Flags&trad.Outermost != 0 || row.CFA.Kind != trad.InReg {
		return false
	}
	base, fp := q.This.Register(row.CFA.Reg), q.This.Register(q.Arch.FP)
	saved := func(r trad.Rule, at uint64) bool {
		return r.Kind == trad.Saved && r.At(row.CFA.At(base.Bits)) == at
	}
	return base.Known() && saved(row.FP, fp.Bits) && saved(row.RA, fp.Bits+uint64(q.Arch.PtrSize))
}

// Guess is the sniffer of last resort.
type Guess struct {
	// Scanned says that the sniffer scan stands behind. Where compilers do not agree on a frame
	// record (32-bit Arm), it is the better guess: most libraries keep none, so that the
	// architecture's frame pointer leads past them, to a program that does.
	Scanned bool
}

func (*Guess) Name() string { return "fp-guess" }

// Sniff follows the frame record, or the back chain. If frame 0 is a function without a record, the
// return address in the link register, or at the top of the stack, comes first.
func (s *Guess) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	row, answer := s.record(q)
	saved := uint64(0)
	if answer == frame.Claimed {
		if c, ok := q.Apply(&row); ok {
			saved = c.PC.Bits
		}
	}
	if leaf, ok := byLink(q, saved); ok {
		return leaf, frame.Claimed
	}
	if answer != frame.Claimed {
		if top, ok := byTop(q); ok {
			return top, frame.Claimed
		}
	}
	return row, answer
}

func (s *Guess) record(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Arch.BackChainRA != 0 {
		return backChain(q)
	}
	if m := q.Module; m != nil && m.OpenPE != nil && q.Arch.RAOffset != 0 && q.Arch.PtrSize == 8 {
		return trad.Row{}, noRecords
	}
	if len(q.Arch.FrameRecords) > 0 {
		return anyRecord(q, s.Scanned)
	}
	return chain(q, trad.Once|trad.Guess)
}

// chain follows the frame record at FP: the saved FP, then the return address.
func chain(q *frame.Query, flags trad.Flags) (trad.Row, frame.Answer) {
	a := q.Arch
	if a.FrameRecord == 0 {
		return trad.Row{}, unsupported
	}
	fp, sp := q.This.Register(a.FP), q.This.Register(a.SP)
	size := uint64(a.PtrSize)
	switch {
	case !fp.Known():
		return trad.Row{}, unknownFP
	case fp.Bits%size != 0 || fp.Bits == 0:
		return trad.Row{}, misaligned
	case sp.Known() && (a.InnerThan(fp.Bits, sp.Bits) || fp.Bits-sp.Bits > maxFrameSize):
		return trad.Row{}, inward
	}
	p := q.Read(fp.Bits, int(2*size))
	if len(p) < int(2*size) {
		return trad.Row{}, unreadable
	}
	saved, ra := a.Word(p), a.CodeAddress(a.Word(p[size:]))
	switch {
	case ra == 0 && saved == 0:
		// The ABI's end of the chain: let the engine see the zeros.
	case ra == 0 || !q.Modules.IsCode(ra-1):
		return trad.Row{}, notCode
	case saved != 0 && saved%size == 0 && !a.InnerThan(fp.Bits, saved) && flags&trad.Guess != 0 &&
		(q.Module != nil || q.Modules.Find(ra-1) == nil || !q.MayFollowCall(ra)):
		// Only code made at run time may save such an FP: its caller may keep something else in the
		// register.
		return trad.Row{}, chainInward
	case flags&trad.Guess != 0 && !q.MayFollowCall(ra) &&
		(q.Modules.Find(ra-1) != nil || !Records(q, saved, fp.Bits+uint64(a.FrameRecord))):
		return trad.Row{}, notACall
	}
	row := trad.Row{
		Lo: q.PC, Len: 1, Flags: flags,
		CFA: trad.Rule{Kind: trad.InReg, Reg: a.FP, Off: a.FrameRecord},
		FP:  trad.Rule{Kind: trad.SavedAt, Reg: a.FP},
		RA:  trad.Rule{Kind: trad.SavedAt, Reg: a.FP, Off: int32(size)},
	}
	if a.FrameRecordAnywhere {
		// The rest of the frame is not known: the row's CFA only orders the frames, and SP is
		// lost.
		row.Others = &trad.OtherRules{Regs: []trad.RegRule{{Reg: a.SP}}}
	}
	return row, frame.Claimed
}
