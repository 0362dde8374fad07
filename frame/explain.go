package frame

import "github.com/sfwalk/sfwalk/trad"

// Claim says which sniffer unwinds a frame, by which row, and which sniffers declined before it.
type Claim struct {
	Sniffer  string   // "" if none claimed the frame
	Row      trad.Row // valid if Sniffer is not ""
	Declined []Decline
}

// Decline is a sniffer's reason for not claiming a frame.
type Decline struct{ Sniffer, Reason string }

// Reasons why a sniffer's claim does not count.
const (
	lost         Answer = "its row leads to no code, and another's does"
	lostUncalled Answer = "its return address follows no call, and another guess's does"
	lostFP       Answer = "it does not take the caller's frame pointer from the frame record, and another guess does"
	notSignal    Answer = "its row is not one of a signal frame"
)

// Sniffer returns the name of the sniffer that claimed THIS, "" if none did.
func (f *Frame) Sniffer() string {
	if f.winner < 0 || f.Level < 0 {
		return ""
	}
	return f.stack.table.sniffers[f.winner].Name()
}

// Row returns the row that unwinds THIS; the zero Row if no sniffer has claimed THIS.
func (f *Frame) Row() trad.Row {
	if f.winner < 0 {
		return trad.Row{}
	}
	return f.row
}

// Claim returns the sniffer that claimed THIS, with its row. It asks the sniffers before it once
// more, for their reasons.
func (f *Frame) Claim() Claim {
	if f.Level < 0 {
		return Claim{}
	}
	claim := Claim{Sniffer: f.Sniffer(), Row: f.Row()}
	c := claims{declined: &claim.Declined}
	c.begin(f, 0)
	defer f.stack.settleSlots(f)
	if f.winner >= 0 {
		if _, ok := f.stack.table.sniffers[f.winner].(SignalSniffer); !ok {
			c.sniffers = c.sniffers[:f.winner]
		} // else it may have declined, and claimed THIS by the stack when all had
	}
	for c.next() && c.by != int(f.winner) {
		f.explain(&c)
	}
	return claim
}

// explain adds the reason why the last claim does not count.
func (f *Frame) explain(c *claims) {
	_, err := c.row.Apply((*env)(f))
	switch {
	case err != nil:
		c.reject()
		c.decline(Answer(err.Error()))
	case f.clobbered(&c.row):
		c.decline(Answer(errClobber.Error()))
	case f.winner < 0:
		c.decline(Answer(errGuess.Error()))
	default:
		why, contested := f.lostContest(&c.row)
		if !contested {
			why = lost // see checkReturnAddress
		}
		c.decline(why)
	}
}
