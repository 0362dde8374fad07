package fromelf

// pieces are the STACK CFI records of a function that are made row by row: a STACK CFI INIT, and
// the changes behind it, for each run of rows without a gap.
type pieces struct {
	d             *Dump
	begun         bool
	from, reached uint64 // where the run begins, and where its last row ends
	init, body    []byte // the rules of its first row, and its changes
	out           []byte // what is complete
}

// end ends the run where its last row ends.
func (p *pieces) end() {
	if !p.begun {
		return
	}
	p.d.CFI++
	b := append(p.out, "STACK CFI INIT "...)
	b = append(appendHex(b, p.from-p.d.load), ' ')
	b = append(appendHex(b, p.reached-p.from), ' ')
	p.out = append(append(append(b, p.init...), '\n'), p.body...)
	p.begun, p.body = false, p.body[:0]
}
