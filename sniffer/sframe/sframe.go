package sframe

import (
	"errors"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state of its own.
type Sniffer struct {
	// Separate finds sections for modules that have no usable one; it may be nil.
	Separate *Separate
}

var _ frame.FunctionSniffer = (*Sniffer)(nil)

func (*Sniffer) Name() string { return "sframe" }

const (
	noModule    = frame.Answer("no module is mapped at PC")
	noImage     = frame.Answer("the module's file cannot be read")
	noSection   = frame.Answer("the module has no SFrame section")
	leftOut     = frame.Answer("the module's SFrame section is left out: all files together take up too much memory")
	broken      = frame.Answer("the module's SFrame section is malformed or of an unknown version")
	onlyJoined  = frame.Answer("the linker has only put the parts of the module's SFrame section one behind the other, which leaves wrong addresses in this version")
	wrongABI    = frame.Answer("the module's SFrame section is for another architecture")
	noFDE       = frame.Answer("no SFrame FDE covers PC")
	noRow       = frame.Answer("the SFrame FDE has no row for PC")
	malformed   = frame.Answer("the SFrame FDE is malformed")
	notTopmost  = frame.Answer("the SFrame row needs a register that only an innermost frame still has")
	impossible  = frame.Answer("the SFrame row puts the return address below SP")
	stubDiffers = frame.Answer("the SFrame row disagrees with the code of the linkage stub")
	leftStack   = frame.Answer("the SFrame row leaves out where THIS keeps the stack pointer, which the code at PC loads")
	inThunk     = frame.Answer("PC is in a thunk, of which the SFrame row may be wrong")
	miscounts   = frame.Answer("the SFrame row may count the call of a thunk before PC, which never returns")
	tornDown    = frame.Answer("the SFrame row leaves out that the code at PC takes the frame down")
)

// Section is a module's open SFrame section. If there is none that can be used, its Section field
// is nil. It has the methods of sframe.Section, which search all parts of a section that a linker
// has only joined; Bias is to be added to the section's addresses.
type Section struct {
	unwindtables.SFrame

	why   frame.Answer
	plain *plainRows
}

type sectionKey struct{}

// SectionOf returns the SFrame section in a module's own file, if it is for the architecture a.
func SectionOf(m *target.Module, a *arch.Arch) *Section {
	return m.Memo(sectionKey{}, func() any { return open(m, a) }).(*Section)
}

func open(m *target.Module, a *arch.Arch) *Section {
	im, bias, err := m.Image()
	if err != nil {
		return &Section{why: noImage}
	}
	// All modules of the file share what is in it.
	s := *im.Memo(imageKey{a.Name}, func() any { return newSection(*unwindtables.SFrameIn(im, a)) }).(*Section)
	s.Bias = bias
	return &s
}

// imageKey is the key of an image's section, read for an architecture.
type imageKey struct{ arch string }

// newSection returns a section with what is kept of its rows, or says why it cannot be used.
func newSection(s unwindtables.SFrame) *Section {
	if s.Section == nil {
		return &Section{why: whyNot(s.Err)}
	}
	return &Section{SFrame: s, plain: new(plainRows)}
}

// whyNot says in a sniffer's words why a section cannot be used.
func whyNot(err error) frame.Answer {
	switch err {
	case elf.ErrBudget:
		return leftOut
	case unwindtables.ErrNoImage:
		return noImage
	case unwindtables.ErrBroken:
		return broken
	case unwindtables.ErrOnlyJoined:
		return onlyJoined
	case unwindtables.ErrWrongABI:
		return wrongABI
	}
	return noSection
}

// section returns the module's own section, or else a separate one.
func (n *Sniffer) section(q *frame.Query) *Section {
	s := SectionOf(q.Module, q.Arch)
	if s.Section == nil && n.Separate != nil {
		if apart := n.Separate.sectionOf(q.Module, q.Arch); apart.Section != nil {
			return apart
		}
	}
	return s
}

func (n *Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Module == nil {
		return trad.Row{}, noModule
	}
	s := n.section(q)
	if s.Section == nil {
		return trad.Row{}, s.why
	}
	var r sframe.Row
	var err error
	if pc := q.AddressInBlock - s.Bias; !s.Joined() {
		r, err = s.Section.Find(pc) // saves a copy of the row
	} else {
		r, err = s.Find(pc)
	}
	if !q.Innermost() && (err != nil || r.Lo+uint64(r.Len) == q.PC-s.Bias) && s.startsTrampoline(q) {
		r, err = s.Find(q.PC - s.Bias)
	}
	if err != nil {
		switch {
		case err == sframe.ErrSignalFrame:
			return trad.Row{}, frame.SignalFrame
		case errors.Is(err, sframe.ErrNoFDE):
			return trad.Row{}, noFDE
		case errors.Is(err, sframe.ErrNoRow):
			return trad.Row{}, noRow
		}
		return trad.Row{}, malformed
	}
	if !q.Innermost() && needsInnermost(&r, q.Arch) {
		return trad.Row{}, notTopmost
	}
	row := convert(&r, s.Bias)
	// Assemblers for V1 and V2 write such rows if the CFA is in a register that
	// those versions cannot name.
	if a := q.Arch; row.CFA.Kind == trad.InReg && row.CFA.Reg == a.SP && row.CFA.Off+a.RAOffset+int32(a.SPFromCFA) < 0 {
		return trad.Row{}, impossible
	}
	if q.Innermost() && (r.Flags&sframe.RowPCMask != 0 || row.CFA.Off == 2*int32(q.Arch.PtrSize)) && !stubAgrees(q, s, &row) {
		return trad.Row{}, stubDiffers
	}
	if a := q.Arch; a.LoadsSP != nil && row.CFA.Kind == trad.InReg && row.CFA.Reg == a.SP {
		if code, at := q.Code(); a.LoadsSP(code[at:min(len(code), at+arch.MaxLoadSP)]) {
			return trad.Row{}, leftStack
		}
	}
	if q.InThunk(&row) {
		return trad.Row{}, inThunk
	}
	if mayCount(q, &row) && s.behindThunk(q, &row) {
		return trad.Row{}, miscounts
	}
	if q.Contradicted(&row) {
		return trad.Row{}, tornDown
	}
	return row, frame.Claimed
}

// startsTrampoline reports whether a signal trampoline begins at q.PC. A handler returns to the
// trampoline's first instruction, and PC-1 belongs to another function. If a call ends at PC, THIS
// is that function's frame.
func (s *Section) startsTrampoline(q *frame.Query) bool {
	f, err := s.FindFDE(q.PC - s.Bias)
	if err != nil || !f.Signal || f.Start != q.PC-s.Bias {
		return false
	}
	follows, _ := q.FollowsCall(q.PC)
	return !follows
}

// FunctionStart returns the beginning of the function whose FDE covers q.AddressInBlock.
func (n *Sniffer) FunctionStart(q *frame.Query) (uint64, bool) {
	if q.Module == nil {
		return 0, false
	}
	s := n.section(q)
	if s.Section == nil {
		return 0, false
	}
	f, err := s.FindFDE(q.AddressInBlock - s.Bias)
	return f.Start + s.Bias, err == nil
}

func convert(r *sframe.Row, bias uint64) trad.Row {
	row := trad.Row{
		Lo: r.Lo + bias, Len: r.Len,
		CFA: rule(r.CFA), RA: rule(r.RA), FP: rule(r.FP),
	}
	if r.Flags&sframe.RowSignal != 0 {
		row.Flags |= trad.Signal
	}
	if r.Flags&sframe.RowOutermost != 0 {
		row.Flags |= trad.Outermost
	}
	if r.Flags&sframe.RowMangledRA != 0 {
		row.Flags |= trad.MangledRA
	}
	return row
}

func rule(r sframe.Rule) trad.Rule {
	kind := [...]trad.Kind{
		sframe.RuleNone: trad.NotTracked, sframe.RuleSame: trad.Same, sframe.RuleUndefined: trad.Undefined,
		sframe.RuleSaved: trad.Saved, sframe.RuleValue: trad.Value,
		sframe.RuleSavedAt: trad.SavedAt, sframe.RuleInReg: trad.InReg,
	}[r.Kind]
	return trad.Rule{Kind: kind, Reg: trad.Reg(r.Reg), Off: r.Off}
}

// needsInnermost reports whether a row uses a register other than SP and FP. The functions
// that THIS has called may have changed it (SFrame V3, appendix A).
func needsInnermost(r *sframe.Row, a *arch.Arch) bool {
	for _, x := range [...]sframe.Rule{r.CFA, r.RA, r.FP} {
		if x.Kind == sframe.RuleInReg || x.Kind == sframe.RuleSavedAt {
			if reg := trad.Reg(x.Reg); reg != a.SP && reg != a.FP {
				return true
			}
		}
	}
	return false
}

// pltEntry is the size of a stub in bytes if the FDE does not tell.
const pltEntry = 16

// stubAgrees reports whether the row of a linkage stub agrees with the code. Linkers describe some
// kinds of stub (.plt.got, .plt.sec) as if they were the first one of .plt, which has one more word
// on the stack. Other code always agrees. Only innermost frames need the check, because stubs make
// no calls.
func stubAgrees(q *frame.Query, s *Section, row *trad.Row) bool {
	if q.Arch.StubFrame == nil || row.CFA.Kind != trad.InReg || row.CFA.Reg != q.Arch.SP {
		return true
	}
	f, err := s.FindFDE(q.AddressInBlock - s.Bias)
	if err != nil || f.PCType == sframe.PCMask && f.RepSize == 0 {
		return false
	}
	size := uint64(pltEntry)
	if f.PCType == sframe.PCMask {
		size = uint64(f.RepSize)
	}
	start := f.Start + s.Bias
	start += (q.AddressInBlock - start) / size * size
	depth, ok := q.Arch.StubFrame(q.Read(start, int(size)), start, q.AddressInBlock) // RepSize is a byte
	return !ok || depth == row.CFA.Off
}

// PromisesFramePointer reports whether the module at q.AddressInBlock has an SFrame
// section with SFRAME_F_FRAME_POINTER and no FDE for the address. The sniffer fp.Flagged relies
// on that. V3 has no such flag.
func PromisesFramePointer(q *frame.Query) bool {
	if q.Module == nil {
		return false
	}
	s := SectionOf(q.Module, q.Arch)
	if s.Section == nil || s.Version >= sframe.V3 || !s.Promises(sframe.FramePointer) {
		return false
	}
	_, err := s.FindFDE(q.AddressInBlock - s.Bias)
	return errors.Is(err, sframe.ErrNoFDE)
}

// Before returns the end of the last FDE before q.AddressInBlock in the module's SFrame section. ok
// is false if there is none, or if an FDE covers q.AddressInBlock.
func Before(q *frame.Query) (end uint64, ok bool) {
	if q.Module == nil {
		return 0, false
	}
	s := SectionOf(q.Module, q.Arch)
	if s.Section == nil {
		return 0, false
	}
	end, ok = s.EndBefore(q.AddressInBlock - s.Bias)
	return end + s.Bias, ok
}
