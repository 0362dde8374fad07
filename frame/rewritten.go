package frame

// A RewritingSniffer is a Sniffer of code that a compiler has made at run time, in memory that is
// not executable while the compiler writes to it: its callers wait there meanwhile.
type RewritingSniffer interface {
	Sniffer
	// SniffsRewritten marks the sniffer. It is asked about callers in memory that is not
	// executable, too, and has to check that there is a frame.
	SniffsRewritten()
}

// askRewriting asks the RewritingSniffers alone, and reports whether one has claimed THIS, whose PC
// is in no code.
func (f *Frame) askRewriting() bool {
	var c claims
	c.begin(f, 0)
	for i, s := range c.sniffers {
		if _, ok := s.(RewritingSniffer); !ok {
			continue
		}
		if row, answer := s.Sniff(&f.stack.query); answer == Claimed && f.apply(&row, i) {
			f.checkReturnAddress()
			return true
		}
	}
	return false
}
