package frame

import (
	"errors"

	"github.com/sfwalk/sfwalk/trad"
)

// A SignalSniffer is a [Sniffer] that knows the frame of a signal trampoline by what the
// kernel has left on the stack, too. It is asked about a frame that another sniffer has
// called a signal frame, where nobody claims it.
type SignalSniffer interface {
	Sniffer
	// SniffSignal is Sniff for a signal frame.
	SniffSignal(q *Query) (trad.Row, Answer)
}

var (
	errSignal    = errors.New("it is a signal frame, whose rules no sniffer knows")
	errNotSignal = errors.New("its row is not one of a signal frame")
)

// ofSignal reports whether the row that sniffer i has given is one of a signal frame. No
// other row is true of a frame that is known to be one: what stands at SP is the kernel's.
func (t *Table) ofSignal(i int, row *trad.Row) bool {
	if u, ok := t.sniffers[i].(Unwinder); ok {
		return u.Type() == SigTramp
	}
	return row.Flags&trad.Signal != 0
}

// sniffSignal asks those that know signal frames by the stack about THIS, which is one. A
// row that they give is put into slot, if that is not nil.
func (f *Frame) sniffSignal(q *Query, slot *rowSlot) {
	s := f.stack
	for i, sniffer := range s.table.sniffers {
		by, ok := sniffer.(SignalSniffer)
		if !ok {
			continue
		}
		row, answer := by.SniffSignal(q)
		if answer != Claimed || !f.apply(&row, i) {
			continue
		}
		if slot != nil && row.Flags&trad.Once == 0 {
			s.table.rows.put(slot, s.table, &row, f.pc, f.caller, i)
		}
		f.lookBack()
		return
	}
	f.typ = SigTramp
	if f.claimErr == errNobody {
		f.claimErr = errSignal
	}
}

// unreadSignal has THIS claimed, where nothing is known to be mapped, as the frame of a signal's
// trampoline that cannot be read, if what is at SP can only be one's: core files of emulators
// leave the page of the trampoline out.
func (f *Frame) unreadSignal(slot *rowSlot) {
	if q := f.query(); len(q.Read(f.pc, 1)) == 0 {
		f.sniffSignal(q, slot)
	}
}
