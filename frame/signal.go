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

var errSignal = errors.New("it is a signal frame, whose rules no sniffer knows")

// ofSignal reports whether the row that sniffer i has given is one of a signal frame. No
// other row is true of a frame that is known to be one: what stands at SP is the kernel's.
func (t *Table) ofSignal(i int, row *trad.Row) bool {
	if u := t.unwinders[i]; u != nil {
		return u.Type() == SigTramp
	}
	return row.Flags&trad.Signal != 0
}
