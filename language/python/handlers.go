package python

// handler is an entry of a code object's exception table (Objects/exception_handling_notes.txt,
// InternalDocs/exception_handling.md of CPython): while an instruction of [start, end) runs, the
// value stack has at least depth values.
type handler struct {
	start, end, target int64 // bytes from the first instruction
	depth              int
}

// Bounds of exception tables.
const (
	maxHandlers = 16 << 10 // bytes
	maxDepth    = 1 << 10
)

// readHandlers reads an exception table: numbers of groups of six bits, the highest first; bit 6
// says that there are more, bit 7 that an entry begins. An entry that is broken ends the table.
func readHandlers(next func() (byte, bool)) (list []handler) {
	number := func() (v int64, ok bool) {
		for range 6 {
			b, ok := next()
			if !ok {
				return 0, false
			}
			v = v<<6 | int64(b&63)
			if b&64 == 0 {
				return v, true
			}
		}
		return 0, false
	}
	for len(list) < maxHandlers/4 {
		start, ok1 := number()
		length, ok2 := number()
		target, ok3 := number()
		depth, ok4 := number()
		if !ok1 || !ok2 || !ok3 || !ok4 || depth>>1 > maxDepth {
			return list
		}
		list = append(list, handler{2 * start, 2 * (start + length), 2 * target, int(depth >> 1)})
	}
	return list
}

// handlerAt returns the entry for the instruction at an offset; nil if there is none. Its depth is
// how many values are on the value stack at least while the instruction runs: what with statements
// and loops keep there.
func (c *code) handlerAt(m *memory, offset int64) *handler {
	if c.exceptions == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.handled {
		c.handlers, c.handled = readHandlers(m.stream(c.exceptions)), true
	}
	for i := range c.handlers { // the entries do not overlap
		if h := &c.handlers[i]; offset >= h.start && offset < h.end {
			return h
		}
	}
	return nil
}
