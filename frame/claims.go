package frame

import "github.com/sfwalk/sfwalk/trad"

// claims goes through the sniffers' claims to unwind THIS, in the table's order. Sniffers are asked
// here alone, so that one set of rules says which answer is a claim.
type claims struct {
	f        *Frame
	sniffers []Sniffer // the table's, as far as they are asked
	by       int       // position of the sniffer that was asked last
	row      trad.Row  // what sniffer by has claimed THIS with
	signal   bool      // THIS is a signal frame
	onStack  bool      // those are asked that know a signal frame by the stack
	// declined are the reasons of those that have not claimed THIS, unless it is nil.
	declined *[]Decline
}

// begin makes c, which is empty, the claims of the sniffers from a position in the table on. It is no
// function that returns claims, for they would be copied.
func (c *claims) begin(f *Frame, from int) {
	f.query()
	c.f, c.sniffers, c.by = f, f.stack.table.sniffers, from-1
}

// next finds the next claim, and reports whether there is one. If THIS is a signal frame, only the
// row of a signal frame is one: what stands at SP is the kernel's.
func (c *claims) next() bool {
	s := c.f.stack
	for c.by++; c.by < len(c.sniffers); c.by++ {
		row, answer := c.sniffers[c.by].Sniff(&s.query)
		switch {
		case answer == Claimed:
			if c.row = row; !c.signal || s.table.ofSignal(c.by, &c.row) {
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

// byStack finds the next claim of those that know THIS, a signal frame that nobody has claimed, by
// the stack.
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

// decline notes why the sniffer that was asked last does not unwind THIS.
func (c *claims) decline(why Answer) {
	*c.declined = append(*c.declined, Decline{c.sniffers[c.by].Name(), string(why)})
}

// reject says that the last claim's row cannot be applied to THIS. That of a signal frame tells that
// THIS is one all the same.
func (c *claims) reject() { c.signal = c.signal || c.f.stack.table.ofSignal(c.by, &c.row) }
