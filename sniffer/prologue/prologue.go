package prologue

import (
	"iter"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state.
type Sniffer struct {
	// Each function of Before returns the end of a table's last function before q.AddressInBlock.
	// ok is false if there is none, or if the table covers that address. Before may be nil.
	Before []func(q *frame.Query) (end uint64, ok bool)
	// Rows yields the rows that tables have for the function that begins at pc; it may be nil.
	Rows func(q *frame.Query, pc uint64) iter.Seq[trad.Row]
	// Tables are sniffers that know the rows of code that a probe's function may have been called
	// from; it may be nil.
	Tables []frame.Sniffer
	// Records reports whether the frame record at fp, which must lie outward of sp, leads on; it
	// may be nil.
	Records func(q *frame.Query, fp, sp uint64) bool
}

func (*Sniffer) Name() string { return "prologue" }

const (
	noModule     = frame.Answer("no module is mapped at PC")
	noFunction   = frame.Answer("no symbol tells where the function begins")
	coldPart     = frame.Answer("the symbol is of a part of a function, split off by the compiler, and the function's own is not there")
	unreadable   = frame.Answer("the function's code cannot be read")
	tooFar       = frame.Answer("PC is too far from the function's beginning")
	noCaller     = frame.Answer("PC is no code, and the stack's top is no return address")
	notCalled    = frame.Answer("the return address that the code tells does not follow a call")
	noReader     = frame.Answer("the architecture's code cannot be read")
	notAvailable = frame.Answer("the registers of THIS are not at hand")
	searched     = frame.Answer("too much code without tables was looked at already")
)

const (
	// maxFunction is how many bytes of a function are read. The code that sets up the frame is
	// at its beginning, but the flow of control to PC must be followed.
	maxFunction = 64 << 10
	// maxEpilogue is how many bytes are read for the instructions that tear a frame down.
	maxEpilogue = 64
	// maxInstruction is the length of the longest instruction in bytes.
	maxInstruction = 16
	// readOver is how many bytes of a function count as one instruction. They count in addition to
	// the instructions that are followed, because the analysis keeps a state for each byte.
	readOver = 32
)

// Sniff answers at once where no code can be read, or need be. Else it looks for evidence, see
// [kinds].
func (s *Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	a := q.Arch
	if row, answer, is := s.kernelPage(q); is {
		return row, answer
	}
	if !q.Modules.IsCode(q.AddressInBlock) {
		return badCall(q)
	}
	if a.ReadFrame == nil {
		return trad.Row{}, noReader
	}
	if row, ok := s.newborn(q); ok {
		return row, frame.Claimed
	}
	if !q.MaySearch() {
		return trad.Row{}, searched
	}
	return (&search{s: s, q: q}).run()
}

// function reads the code from the function's symbol on.
func function(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Module == nil {
		return trad.Row{}, noModule
	}
	im, bias, err := q.Module.Image()
	if err != nil {
		return trad.Row{}, noFunction
	}
	symbol, ok := im.Symbols().Find(q.AddressInBlock - bias)
	if !ok && im.Entry != 0 && q.AddressInBlock-bias == im.Entry {
		return begun(q, im, bias, q.AddressInBlock, q.AddressInBlock+1) // stripped: only its first instruction is known
	}
	if !ok {
		return trad.Row{}, noFunction
	}
	// The compiler moves unlikely code out of a function; the frame is set up already there.
	if of, ok := coldPartOf(im.Symbols().Name(symbol)); ok {
		return cold(q, im, bias, symbol, of)
	}
	lo, hi := symbol.Addr+bias, symbol.Addr+symbol.Size+bias
	if im.Entry != 0 && symbol.Addr == im.Entry {
		return begun(q, im, bias, lo, hi)
	}
	if q.AddressInBlock-lo > maxFunction {
		return trad.Row{}, tooFar
	}
	return readFrom(q, lo, hi, q.Arch.ReadFrame)
}

// readFrom reads the function that begins at lo. read is one of the readers of arch.Arch. It also
// reads the code behind PC up to hi: the flow of control may come back from there.
func readFrom(q *frame.Query, lo, hi uint64, read func(code []byte, start, pc uint64) (trad.Row, int, string)) (trad.Row, frame.Answer) {
	n := min(max(hi-lo, q.AddressInBlock-lo+maxInstruction), maxFunction+maxInstruction)
	code := make([]byte, n)
	got, _ := q.Memory.ReadMemory(lo, code)
	if uint64(got) <= q.AddressInBlock-lo {
		return trad.Row{}, unreadable
	}
	row, steps, why := read(code[:got], lo, q.AddressInBlock)
	q.CountSearched(steps + got/readOver)
	return row, frame.Answer(why)
}

// badCall answers for a PC outside code. Only a call or a jump leads there. So the frame is as a
// call leaves it: the return address is where the ABI puts it on entry. The return address must
// follow a call.
func badCall(q *frame.Query) (trad.Row, frame.Answer) {
	a := q.Arch
	if !q.Innermost() {
		return trad.Row{}, noCaller
	}
	row := trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Once | trad.Guess | trad.InPrologue,
		CFA:    trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: -a.RAOffset - int32(a.SPFromCFA)},
		RA:     trad.Rule{Kind: trad.Same},
		FP:     trad.Rule{Kind: trad.Same},
		Others: unchanged,
	}
	ra := q.This.Register(a.RA)
	if a.RAOffset != 0 {
		row.RA = trad.Rule{Kind: trad.Saved, Off: a.RAOffset}
		sp := q.This.Register(a.SP)
		if !sp.Known() {
			return trad.Row{}, notAvailable
		}
		v, ok := q.Word(sp.Bits)
		if !ok {
			return trad.Row{}, noCaller
		}
		ra = frame.Value{Bits: v, Lval: frame.InMemory}
	}
	if !ra.Known() {
		return trad.Row{}, notAvailable
	}
	if !followsCall(q, a.CodeAddress(ra.Bits)) {
		return trad.Row{}, noCaller
	}
	return row, frame.Claimed
}

// unchanged says that all other registers are unchanged.
var unchanged = &trad.OtherRules{Default: trad.Same}
