package frame

// PlacedUnwinder is an Unwinder of frames at certain PCs, which come and go, such as the return
// addresses of the calls that a debugger has a thread make. Its frames count wherever these PCs
// are: in no code, or in code for which another sniffer has a row.
//
// It is asked about each frame at such a PC, as no row is kept for one. Only tables with a
// PlacedUnwinder look.
type PlacedUnwinder interface {
	Unwinder
	// HasPlace reports whether the sniffer may claim a frame at a PC now. It is called often, and
	// must be quick.
	HasPlace(pc uint64) bool
	// PlacesGeneration returns a number that only grows, and grows with each PC for which HasPlace
	// begins to return true. A table forgets its rows when the number has changed.
	PlacesGeneration() uint64
}

// checkPlaces forgets the rows if places were added since.
func (t *Table) checkPlaces() {
	sum := uint64(0)
	for _, p := range t.placed {
		sum += p.PlacesGeneration()
	}
	if sum != t.places {
		t.places = sum
		t.rows.reset()
	}
}

// hasPlace reports whether a PlacedUnwinder may claim a frame at a PC.
func (t *Table) hasPlace(pc uint64) bool {
	for _, p := range t.placed {
		if p.HasPlace(pc) {
			return true
		}
	}
	return false
}

// askPlaced asks the PlacedUnwinders alone, and reports whether one has claimed THIS, whose PC is
// in no code.
func (f *Frame) askPlaced() bool {
	var c claims
	c.begin(f, 0)
	for c.by = range c.sniffers {
		if _, ok := c.sniffers[c.by].(PlacedUnwinder); !ok {
			continue
		}
		if row, answer := c.askUnwinder(); answer == Claimed && f.apply(&row, c.by) {
			f.checkReturnAddress()
			return true
		}
	}
	return false
}
