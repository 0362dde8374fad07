package frame

import "github.com/sfwalk/sfwalk/trad"

// claims goes through the sniffers' claims to unwind THIS, in the table's order. Sniffers are asked
// here alone, so that one set of rules says which answer is a claim.
type claims struct {
	f        *Frame
	q        *Query
	by       int      // position in the table of the sniffer that was asked last
	end      int      // position in the table of the first that is not asked
	row      trad.Row // what sniffer by has claimed THIS with
	signal   bool     // THIS is a signal frame
	searched int64    // for the stack before, see Stack.Searched
	onStack  bool     // those are asked that know a signal frame by the stack
	// declined are the reasons of those that have not claimed THIS, unless it is nil.
	declined *[]Decline
}

// start makes c, which is empty, the claims of the sniffers from a position in the table on.
func (c *claims) start(f *Frame, from int) {
	c.f, c.q, c.by, c.end = f, f.query(), from-1, len(f.stack.table.sniffers)
	c.searched = f.stack.search.total
}

// next finds the next claim, and reports whether there is one. If THIS is a signal frame, only the
// row of a signal frame is one: what stands at SP is the kernel's.
func (c *claims) next() bool {
	t := c.f.stack.table
	for c.by++; c.by < c.end; c.by++ {
		row, answer := t.sniffers[c.by].Sniff(c.q)
		switch {
		case answer == Claimed && (!c.signal || t.ofSignal(c.by, &row)):
			c.row = row
			return true
		case answer == Claimed:
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

// byStack finds the next claim of those that know THIS, a signal frame that nobody has claimed, by
// the stack.
func (c *claims) byStack() bool {
	if !c.onStack {
		c.by, c.onStack = -1, true
	}
	t := c.f.stack.table
	for c.by++; c.by < c.end; c.by++ {
		if s, ok := t.sniffers[c.by].(SignalSniffer); ok {
			row, answer := s.SniffSignal(c.q)
			if answer == Claimed && t.ofSignal(c.by, &row) {
				c.row = row
				return true
			}
		}
	}
	return false
}

// decline notes why the sniffer that was asked last does not unwind THIS.
func (c *claims) decline(why Answer) {
	*c.declined = append(*c.declined, Decline{c.f.stack.table.sniffers[c.by].Name(), string(why)})
}

// reject says that the last claim's row cannot be applied to THIS. That of a signal frame tells that
// THIS is one all the same.
func (c *claims) reject() { c.signal = c.signal || c.f.stack.table.ofSignal(c.by, &c.row) }
