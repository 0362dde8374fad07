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
	row      trad.Row // by which THIS is unwound, if winner is not -1
	cfa      uint64   // of THIS, by row; else 0
	err      error    // detail of stop
	claimErr error    // why no sniffer could, if one tried
	later    *laterRow
	values   *[]Value // some of PREVIOUS's registers, by Arch.Index; see remember
	saved    savedRegs

	// Deep stacks have many frames: what is small stands together.
	winner       int16 // position in the table of the sniffer that claimed THIS; -1: none did
	typ          Type
	stop         StopReason
	claimReason  StopReason
	asked        bool // prev, stop and err are final
	caller       bool // pc is a return address: NEXT was called by THIS
	moved        bool // see MovedOn
	late         bool // what was read of PREVIOUS is of another moment
	spKnown      bool
	byUnwinder   bool // the winner is an Unwinder
	changesStack bool // THIS is of type OtherStack by findsChange; of a Walker's THIS: it may be
	dropped      bool // THIS was let go: it is Stack.edge
	inCode       bool // PC or PC-1 is known to be in code
	ofWalker     bool // THIS is a Walker's, and in no chain: see inner
}

// PC returns the address at which THIS frame runs, or will when its NEXT returns.
func (f *Frame) PC() uint64 { return f.pc }

// AddressInBlock returns the address that symbols and tables are looked up with:
// PC-1 for a caller, whose PC may belong to what follows a noreturn call, else PC.
func (f *Frame) AddressInBlock() uint64 {
	if f.caller && f.pc > 0 {
		return f.pc - 1
	}
	return f.pc
}

// MovedOn reports whether the process had moved on when THIS was read: THIS, or an inner
// frame, comes from memory of another moment than the thread's registers, and may never
// have been on one stack with frame 0.
func (f *Frame) MovedOn() bool { return f.moved }

// Next returns the inner frame; the sentinel's is nil, and so is that of a frame whose inner
// ones were let go ([Stack.AllOnce]).
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

// CFA returns THIS frame's canonical frame address: the stack address of its ID.
func (f *Frame) CFA() (cfa uint64, ok bool) { return f.cfa, f.winner >= 0 }

// Module returns what is mapped at THIS frame's code, nil if nothing is.
func (f *Frame) Module() *target.Module { return f.stack.modules.Find(f.AddressInBlock()) }

// StopReason says why THIS has no PREVIOUS. It asks for PREVIOUS.
func (f *Frame) StopReason() StopReason {
	f.Prev()
	return f.stop
}

// ID returns THIS frame's identity; it is null if nobody can unwind THIS, and the
// sentinel's is.
func (f *Frame) ID() ID {
	if f.winner < 0 {
		return ID{}
	}
	if u, ok := f.unwinder(); ok {
		id, err := u.ThisID(f)
		if err != nil {
			return ID{}
		}
		return id
	}
	id := ID{Stack: f.cfa, Has: HasStack}
	if code, ok := f.functionStart(f.stack.table.sniffers[f.winner]); ok {
		id.Code, id.Has = code, id.Has|HasCode
	}
	return id
}

// unwinder returns the sniffer that claimed THIS, if it is one that answers itself.
func (f *Frame) unwinder() (Unwinder, bool) {
	if f.winner < 0 || !f.byUnwinder {
		return nil, false
	}
	return f.stack.table.unwinders[f.winner], true
}

func (f *Frame) functionStart(winner Sniffer) (addr uint64, ok bool) {
	block := f.AddressInBlock()
	if f.typ == SigTramp {
		block = f.pc // nobody has called there: what lies before may be another function
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

// Prev returns the PREVIOUS frame, making it when first asked. Where there is
// none it returns nil: with a nil error for a stack that is whole, else with a
// [*StopError].
func (f *Frame) Prev() (*Frame, error) {
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
