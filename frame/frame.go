package frame

import (
	"fmt"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Frame is one frame of a [Stack]: THIS.
type Frame struct {
	Level int // 0 for the innermost; -1 for the sentinel

	stack *Stack
	next  *Frame // the inner one; see inner
	prev  *Frame // the outer one, once made

	pc, sp   uint64
	fp       Value
	ra       Value    // PREVIOUS's PC, as the row has it
	row      trad.Row // the row that unwinds THIS, if winner is not -1
	cfa      uint64   // of THIS, by row; else 0
	err      error    // detail of stop
	claimErr error    // why no sniffer can unwind THIS
	later    *laterRow
	values   *[]Value // some of PREVIOUS's registers, by Arch.Index; see remember
	saved    savedRegs

	// Deep stacks have many frames, so the small fields stand together.
	winner       int16 // position in the table of the sniffer that claimed THIS; -1: none did
	typ          Type
	stop         StopReason
	claimReason  StopReason
	asked        bool // prev, stop and err are final
	caller       bool // pc is a return address: THIS has called NEXT
	moved        bool // see MovedOn
	late         bool // some memory that was read to find PREVIOUS is of another moment
	spKnown      bool
	byUnwinder   bool // the winner is an Unwinder
	changesStack bool // findsChange made THIS an OtherStack frame; for a Walker's THIS: may make it one
	dropped      bool // THIS is Stack.lastDropped
	inCode       bool // PC or PC-1 is known to be in code
	ofWalker     bool // THIS is a Walker's, and in no chain: see inner

	generation uint32 // Stack.generation when THIS was made
}

// PC returns the address at which THIS frame runs, or will run when its NEXT returns.
func (f *Frame) PC() uint64 { return f.pc }

// AddressInBlock returns the address to look up in symbols and tables: PC-1 for a caller,
// else PC. A caller's PC may belong to the next function, if its call does not return.
func (f *Frame) AddressInBlock() uint64 {
	if f.caller && f.pc > 0 {
		return f.pc - 1
	}
	return f.pc
}

// MovedOn reports whether the process had moved on when THIS was read. Then THIS, or an inner
// frame, comes from memory of another moment than the thread's registers: it may never
// have been on one stack with frame 0.
func (f *Frame) MovedOn() bool { return f.moved }

// Next returns the inner frame. It returns nil for the sentinel, and for a frame whose inner
// frames were dropped ([Stack.AllOnce]).
func (f *Frame) Next() *Frame {
	if next := f.inner(); next != nil && !next.dropped {
		return next
	}
	return nil
}

// Stack returns the chain that THIS belongs to.
func (f *Frame) Stack() *Stack {
	f.inner()
	return f.stack
}

// Type returns what kind of frame THIS is.
func (f *Frame) Type() Type { return f.typ }

// CFA returns THIS frame's canonical frame address: the stack address of its ID. ok is false if
// no sniffer has claimed THIS.
func (f *Frame) CFA() (cfa uint64, ok bool) { return f.cfa, f.winner >= 0 }

// Module returns the module at THIS frame's address in block, nil if there is none.
func (f *Frame) Module() *target.Module { return f.stack.modules.Find(f.AddressInBlock()) }

// StopReason returns why THIS has no PREVIOUS, or NoReason. It makes PREVIOUS, as [Frame.Prev]
// does.
func (f *Frame) StopReason() StopReason {
	f.Prev()
	return f.stop
}

// ID returns THIS frame's identity. It is null for the sentinel, and if no sniffer has claimed
// THIS.
func (f *Frame) ID() ID {
	if f.winner < 0 {
		return ID{}
	}
	if u, ok := f.unwinder(); ok {
		id, err := f.thisID(u)
		if err != nil {
			return ID{}
		}
		return id
	}
	id := ID{Stack: f.cfa, Has: HasStack}
	if code, ok := f.functionStart(f.stack.table.sniffers[f.winner]); ok {
		id.Code, id.Has = code, id.Has|HasCode
	}
	if d, is := f.stack.table.sniffers[f.winner].(SpecialSniffer); is {
		q := f.query()
		if special, ok := d.SpecialAddress(q); ok {
			id.Special, id.Has = special, id.Has|HasSpecial
		}
	}
	return id
}

func (f *Frame) functionStart(winner Sniffer) (addr uint64, ok bool) {
	block := f.AddressInBlock()
	if f.typ == SigTramp {
		block = f.pc // no call led there: what lies before may be another function
	}
	if m := f.stack.modules.Find(block); m != nil {
		if addr, ok = m.FunctionEntry(block); ok {
			return addr, true
		}
	}
	if d, is := winner.(FunctionSniffer); is {
		q := f.query()
		q.AddressInBlock = block
		return d.FunctionStart(q)
	}
	return f.row.Lo, f.typ == SigTramp // the trampoline is the row's whole range
}

// Prev returns the PREVIOUS frame, and makes it when first asked. If there is none, it
// returns nil: with a nil error if the stack is whole, else with a [*StopError].
func (f *Frame) Prev() (*Frame, error) {
	if f.outdated() {
		return nil, &StopError{Level: f.Level, PC: f.pc, Reason: Unavailable, Err: errOutdated}
	}
	if !f.asked {
		f.asked = true
		f.prev, f.stop, f.err = f.makePrev()
	}
	if f.prev == nil && !f.stop.Whole() {
		return nil, &StopError{Level: f.Level, PC: f.pc, Reason: f.stop, Err: f.err}
	}
	return f.prev, nil
}

// String names THIS for messages: "#3 0x401136".
func (f *Frame) String() string { return fmt.Sprintf("#%d %#x", f.Level, f.pc) }
