package gopclntab

// maxSteps bounds the entries of tables of values that one look-up reads. The largest known
// functions have some ten thousand. Each inlined call takes a look-up in two tables.
const maxSteps = 1 << 20

// run is a range of addresses, [lo, hi), with one value.
type run struct {
	lo, hi uint64
	value  int32
}

// A cursor reads a table of values. The table has pairs of varints: the difference of a value
// from the one before, and the number of quanta that the value holds for. The first difference
// is from -1. Any later difference of 0 ends the table.
type cursor struct {
	p       []byte
	steps   int
	quantum uint64
	end     uint64 // of the function
	run
}

// cursor returns a cursor at the beginning of the table at off; 0 stands for no table.
func (f Func) cursor(off uint32) cursor {
	c := cursor{run: run{lo: f.Lo, hi: f.Lo, value: -1}}
	if off != 0 && uint64(off) < uint64(len(f.t.values)) {
		c.p, c.quantum, c.end = f.t.values[off:], uint64(f.t.Quantum), f.Hi
	}
	return c
}

// next reads the next run. It returns false if there is none.
func (c *cursor) next() bool {
	v, ok := c.varint()
	if !ok || v == 0 && c.steps > 0 || c.hi >= c.end {
		return false
	}
	n, ok := c.varint()
	if !ok {
		return false
	}
	c.steps++
	c.value += int32(-(v & 1) ^ v>>1)
	c.lo = c.hi
	if c.hi = c.lo + uint64(n)*c.quantum; c.hi > c.end || c.hi < c.lo {
		c.hi = c.end
	}
	return true
}

func (c *cursor) varint() (v uint32, ok bool) {
	if len(c.p) > 0 && c.p[0] < 0x80 {
		v, c.p = uint32(c.p[0]), c.p[1:]
		return v, true
	}
	for i, b := range c.p[:min(len(c.p), 5)] {
		v |= uint32(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.p = c.p[i+1:]
			return v, true
		}
	}
	return 0, false
}

// value finds the run that holds pc. It subtracts the number of entries that it reads from left.
func (f Func) value(off uint32, pc uint64, left *int) (r run, ok bool) {
	if pc < f.Lo || pc >= f.Hi {
		return run{}, false
	}
	for c := f.cursor(off); *left > 0 && c.next(); *left-- {
		if pc < c.hi {
			return c.run, true
		}
	}
	return run{}, false
}

// SPDelta returns how many bytes the stack pointer is below the frame's end before the
// instruction at pc runs. The frame's end is the place of the return address on amd64 and 386,
// the CFA elsewhere. delta holds for [lo, hi). ok is false outside the function, in the padding
// behind its code, and where C code was linked in. SPDelta does not allocate.
func (f Func) SPDelta(pc uint64) (delta int32, lo, hi uint64, ok bool) {
	if f.t == nil {
		return 0, 0, 0, false
	}
	left := maxSteps
	r, ok := f.value(f.word(wordSP), pc, &left)
	return r.value, r.lo, r.hi, ok
}

// Line returns the file and the line, from 1, of the code at pc. If a call is inlined there, they
// are the file and the line of the inlined function's code.
func (f Func) Line(pc uint64) (file string, line int, ok bool) {
	if f.t == nil {
		return "", 0, false
	}
	left := maxSteps
	return f.line(pc, &left)
}

// line is Line. It subtracts the number of entries that it reads from left.
func (f Func) line(pc uint64, left *int) (file string, line int, ok bool) {
	n, ok := f.value(f.word(wordLine), pc, left)
	if !ok || n.value < 0 {
		return "", 0, false
	}
	i, ok := f.value(f.word(wordFile), pc, left)
	if !ok || i.value < 0 {
		return "", 0, false
	}
	file = f.file(uint32(i.value))
	return file, int(n.value), file != ""
}

// file returns the name of the function's i-th file.
func (f Func) file(i uint32) string {
	t := f.t
	if t.Version == Go12 {
		if off := 4 * uint64(i); off != 0 && off+4 <= uint64(len(t.files)) {
			return text(t.names, uint64(t.u32(t.files, int(off))))
		}
		return ""
	}
	off := 4 * (uint64(f.word(wordUnit)) + uint64(i))
	if off+4 > uint64(len(t.cus)) {
		return ""
	}
	return text(t.files, uint64(t.u32(t.cus, int(off))))
}
