package frame

import "github.com/sfwalk/sfwalk/trad"

// claims iterates over the sniffers that claim THIS, in the table's order. All sniffers are asked
// here, so that the rules for what counts as a claim stand once.
type claims struct {
	f        *Frame
	sniffers []Sniffer // the table's, up to the last one to ask
	by       int       // position of the sniffer that was asked last
	row      trad.Row  // what sniffer by has claimed THIS with
	signal   bool      // THIS is a signal frame
	onStack  bool      // SignalSniffers are asked, by byStack
	// declined receives the reasons of the sniffers that do not claim THIS, unless it is nil.
	declined *[]Decline
}

// begin makes c, which is empty, the claims of the sniffers at from and later in the table. It
// does not return new claims, because they would be copied.
func (c *claims) begin(f *Frame, from int) {
	f.query()
	c.f, c.sniffers, c.by = f, f.stack.table.sniffers, from-1
}

// next finds the next claim, and reports whether there is one. If THIS is a signal frame, only
// the row of a signal frame is a claim: the kernel has written what is at SP.
func (c *claims) next() bool {
	s := c.f.stack
	for c.by++; c.by < len(c.sniffers); c.by++ {
		var answer Answer
		if s.table.unwinders[c.by] == nil {
			c.row, answer = c.sniffers[c.by].Sniff(&s.query)
		} else {
			c.row, answer = c.askUnwinder()
		}
		switch {
		case answer == Claimed:
			if m := s.query.Module; m != nil && m.Doubted() && c.row.Flags&trad.Outermost == 0 {
				c.row.Flags |= trad.Guess // the tables may be of other code
			}
			if !c.signal || s.table.ofSignal(c.by, &c.row) {
				return true
			}
			answer = notSignal
		case answer == SignalFrame:
			c.signal = true
		}
		if c.declined != nil {
			c.decline(answer)
		}
	}
	return false
}

// askUnwinder asks sniffer by, which is an Unwinder.
func (c *claims) askUnwinder() (trad.Row, Answer) {
	s := c.f.stack
	defer s.setAsked(asked{c.f, c.by})()
	return c.sniffers[c.by].Sniff(&s.query)
}

// byStack finds the next claim of a [SignalSniffer], once no sniffer has claimed THIS, which is a
// signal frame.
func (c *claims) byStack() bool {
	if !c.onStack {
		c.by, c.onStack = -1, true
	}
	s := c.f.stack
	for c.by++; c.by < len(c.sniffers); c.by++ {
		if sniffer, ok := c.sniffers[c.by].(SignalSniffer); ok {
			var answer Answer
			if c.row, answer = sniffer.SniffSignal(&s.query); answer == Claimed && s.table.ofSignal(c.by, &c.row) {
				return true
			}
		}
	}
	return false
}

// decline adds the reason of the sniffer that was asked last to c.declined.
func (c *claims) decline(why Answer) {
	*c.declined = append(*c.declined, Decline{c.sniffers[c.by].Name(), string(why)})
}

// reject notes that the last claim's row cannot be applied to THIS. If the row is a signal
// frame's, THIS is a signal frame all the same.
func (c *claims) reject() { c.signal = c.signal || c.f.stack.table.ofSignal(c.by, &c.row) }
