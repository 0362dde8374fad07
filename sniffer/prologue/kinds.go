package prologue

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// A kind is a kind of evidence for a row in code that no table describes.
type kind struct {
	name string // as docs/sniffers.md has it
	of   frames
	by   effort
	find func(x *search) (row trad.Row, ok bool)
}

// frames says which frames a kind of evidence is of use for.
type frames uint8

const (
	everyFrame     frames = iota
	innermostFrame        // see frame.Query.Innermost
	callerFrame
)

// effort says what a kind of evidence takes.
type effort uint8

const (
	atOnce effort = iota
	// bySearch reads much code, or goes by what was read. It is left out at a PC where searches
	// were in vain.
	bySearch
)

// kinds are all kinds of evidence, the best first. The list in docs/sniffers.md explains each.
var kinds = [...]kind{
	{"The symbol", everyFrame, atOnce, (*search).bySymbol},
	{"The linkage stub", innermostFrame, atOnce, func(x *search) (trad.Row, bool) { return stub(x.q) }},
	{"The popped return address", innermostFrame, atOnce, func(x *search) (trad.Row, bool) { return popped(x.q) }},
	{"The replaced return address", innermostFrame, atOnce, (*search).byThunk},
	{"The epilogue", innermostFrame, atOnce, (*search).byEpilogue},
	{"The stub without a name", innermostFrame, atOnce, (*search).byUnnamedStub},
	{"The coroutine's beginning", innermostFrame, atOnce, func(x *search) (trad.Row, bool) { return begins(x.q) }},
	{"The beginning", everyFrame, atOnce, (*search).byBeginning},
	{"The way out", everyFrame, bySearch, (*search).byWayOut},
	{"The thread's first function", callerFrame, bySearch, (*search).byZeroFP},
	{"The call", everyFrame, bySearch, (*search).byCall},
	{"The stack that was left", everyFrame, bySearch, func(x *search) (trad.Row, bool) { return x.other, x.other.Len != 0 }},
	{"The gap", everyFrame, bySearch, func(x *search) (trad.Row, bool) { return x.s.byTables(x.q) }},
	{"The frame pointer that the code uses", everyFrame, bySearch, (*search).byFrame},
	{"The symbol, as a guess", everyFrame, bySearch, (*search).bySymbolGuess},
	{"The jump from a known function", everyFrame, bySearch, func(x *search) (trad.Row, bool) { return x.called, x.called.Len != 0 }},
	{"The way out, as a guess", everyFrame, bySearch, func(x *search) (trad.Row, bool) { return x.way, x.way.Len != 0 }},
	{"The jump", innermostFrame, bySearch, (*search).byTail},
	{"The way to the thread's end", callerFrame, bySearch, (*search).byEnd},
	{"The aligned beginning", callerFrame, bySearch, func(x *search) (trad.Row, bool) { return x.s.byAlignment(x.q) }},
	{"The rounded stack pointer", callerFrame, bySearch, func(x *search) (trad.Row, bool) { return x.s.byRounding(x.q) }},
	{"The neighbours' way out", everyFrame, bySearch, func(x *search) (trad.Row, bool) { return x.s.byNeighbours(x.q) }},
	{"The entry point", callerFrame, atOnce, func(x *search) (trad.Row, bool) { return atEntry(x.q) }},
	{"The code executed", innermostFrame, atOnce, func(x *search) (trad.Row, bool) { return x.s.byRunning(x.q) }},
}

// A search is what the kinds of evidence have found for THIS frame. Of a row that was not found,
// Len is 0.
type search struct {
	s *Sniffer
	q *frame.Query

	symbol trad.Row // what the code says from the symbol on
	answer frame.Answer
	lead   lead

	thunk bool // PC is at the return of a thunk, which jumps to a function

	way, last, other trad.Row // see Sniffer.ahead
	called           trad.Row // see Sniffer.byCall
}

// run tries all kinds of evidence in their order.
func (x *search) run() (trad.Row, frame.Answer) {
	tried, inVain := false, false
	for i := range kinds {
		k := &kinds[i]
		if k.of != everyFrame && (k.of == innermostFrame) != x.q.Innermost() {
			continue
		}
		if k.by == bySearch {
			if !tried {
				tried, inVain = true, x.q.SearchedInVain()
			}
			if inVain {
				continue
			}
		}
		if row, ok := k.find(x); ok {
			if k.of == innermostFrame && row.Flags&trad.Once != 0 && tried && !inVain {
				x.q.NoteSearchedInVain() // no other frame has this row
			}
			return row, frame.Claimed
		}
	}
	if !inVain {
		x.q.NoteSearchedInVain()
	}
	x.symbol.Flags |= trad.Guess // if it counts at everyFrame, its return address is 0
	return x.symbol, x.answer
}

// bySymbol counts if the row is certain, and its return address is good.
func (x *search) bySymbol() (trad.Row, bool) {
	if x.symbol, x.answer = function(x.q); x.answer == frame.Claimed {
		// Code that has its CFA in a register that calls may change copies what lies there: the
		// return address may be somewhere else the next time.
		if a := x.q.Arch; x.symbol.CFA.Kind == trad.InReg && x.symbol.CFA.Reg != a.SP && !a.CalleeSaved.Has(x.symbol.CFA.Reg) {
			x.symbol.Flags |= trad.Once
		}
		if x.lead = leads(x.q, &x.symbol); x.lead == nowhere {
			x.symbol, x.answer = trad.Row{}, notCalled
		}
	}
	return x.symbol, x.answer == frame.Claimed && x.symbol.Flags&trad.Guess == 0 && x.lead == caller
}

// bySymbolGuess has the row of bySymbol count although it is a guess.
func (x *search) bySymbolGuess() (trad.Row, bool) {
	return x.symbol, x.answer == frame.Claimed && x.lead == caller
}

func (x *search) byThunk() (row trad.Row, ok bool) {
	row, x.thunk, ok = replaced(x.q)
	return row, ok
}

func (x *search) byEpilogue() (trad.Row, bool) {
	if x.thunk {
		return trad.Row{}, false
	}
	row, out := x.q.Arch.ReadEpilogue(x.q.Read(x.q.PC, maxEpilogue), x.q.PC)
	return row, out != 0 && out&(arch.ByJump|arch.TearsDown) != arch.ByJump && leads(x.q, &row) == caller
}

func (x *search) byUnnamedStub() (row trad.Row, ok bool) {
	if x.answer != noFunction {
		return row, false
	}
	return unnamedStub(x.q)
}

// byBeginning is for code that no symbol names: bySymbol has the row otherwise.
func (x *search) byBeginning() (row trad.Row, ok bool) {
	if x.answer != noFunction && x.answer != noModule {
		return row, false
	}
	return x.s.byBeginning(x.q)
}

// byWayOut counts if the row is certain.
func (x *search) byWayOut() (trad.Row, bool) {
	x.way, x.last, x.other = x.s.ahead(x.q)
	return x.way, x.way.Len != 0 && x.way.Flags&trad.Guess == 0
}

// byZeroFP answers if the way leads to the end of the thread, and the frame pointer is 0: code that
// begins a thread puts a zero there.
func (x *search) byZeroFP() (trad.Row, bool) {
	if x.last.Len == 0 {
		return x.last, false
	}
	fp := x.q.This.Register(x.q.Arch.FP)
	return x.last, fp.Known() && fp.Bits == 0
}

// byEnd has the row of byZeroFP count, as a guess, whatever the frame pointer is.
func (x *search) byEnd() (trad.Row, bool) {
	x.last.Flags |= trad.Guess
	return x.last, x.last.Len != 0
}

// byCall counts if the row is certain.
func (x *search) byCall() (row trad.Row, ok bool) {
	if row, ok = x.s.byCall(x.q); !ok {
		return row, false
	}
	x.called = row
	return row, row.Flags&trad.Guess == 0
}

// byFrame takes the frame record, or another guess that agrees with it.
func (x *search) byFrame() (row trad.Row, ok bool) {
	framed, ok := x.s.byFrame(x.q)
	if !ok {
		return row, false
	}
	guesses := [...]trad.Row{{}, x.called, x.way}
	if row, ok := x.bySymbolGuess(); ok {
		guesses[0] = row
	}
	return refined(x.q, framed, guesses[:]), true
}

// byTail answers where nothing else is known about the code.
func (x *search) byTail() (row trad.Row, ok bool) {
	switch x.answer {
	case noFunction, noModule, tooFar:
		return x.s.tail(x.q)
	}
	return row, false
}
