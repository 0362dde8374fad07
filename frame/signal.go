package frame

import (
	"errors"

	"github.com/sfwalk/sfwalk/trad"
)

// A SignalSniffer is a [Sniffer] that can recognize a signal frame also by what the kernel
// has written on the stack. It is asked if another sniffer has said that THIS is a signal
// frame, and none has claimed it.
type SignalSniffer interface {
	Sniffer
	// SniffSignal is Sniff for a signal frame.
	SniffSignal(q *Query) (trad.Row, Answer)
}

var errSignal = errors.New("it is a signal frame, whose rules no sniffer knows")

// ofSignal reports whether the row of the sniffer at position i is a signal frame's. No other row
// can be true for a signal frame: the kernel has written what is at SP.
func (t *Table) ofSignal(i int, row *trad.Row) bool {
	if u := t.unwinders[i]; u != nil {
		return u.Type() == SigTramp
	}
	return row.Flags&trad.Signal != 0
}
