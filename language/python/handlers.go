package python

// handler is an entry of a code object's exception table (Objects/exception_handling_notes.txt,
// InternalDocs/exception_handling.md of CPython): while an instruction of [start, end) runs, the
// value stack has at least depth values.
type handler struct {
	start, end int64 // bytes from the first instruction
	depth      int
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
		_, ok3 := number() // the handler
		depth, ok4 := number()
		if !ok1 || !ok2 || !ok3 || !ok4 || depth>>1 > maxDepth {
			return list
		}
		list = append(list, handler{2 * start, 2 * (start + length), int(depth >> 1)})
	}
	return list
}

// depth returns how many values are on the value stack at least while the instruction at offset
// runs: what with statements and loops keep there. 0 if that is not known.
func (c *code) depth(m *memory, offset int64) int {
	if c.exceptions == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.handled {
		c.handlers, c.handled = readHandlers(m.stream(c.exceptions)), true
	}
	for _, h := range c.handlers { // the entries do not overlap
		if offset >= h.start && offset < h.end {
			return h.depth
		}
	}
	return 0
}
