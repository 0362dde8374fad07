package value

// room is what released frames were read into: later frames are read into it again. Backtraces of
// many threads would leave ten times as much garbage as they have text.
type room struct {
	list     []Variable
	contexts []*context
	// What a Printer writes: the value that a variable has now, and that at the function's entry.
	shown, entered Value
}

// maxRoom bounds how many contexts and variables are kept for later frames.
const maxRoom = 1 << 8

// context returns a context to be filled in.
func (m *room) context() *context {
	n := len(m.contexts)
	if n == 0 {
		return new(context)
	}
	c := m.contexts[n-1]
	m.contexts = m.contexts[:n-1]
	return c
}

// variables returns n variables to be filled in.
func (m *room) variables(n int) []Variable {
	list := m.list
	m.list = nil
	if n > cap(list) {
		return make([]Variable, n, max(n+n/2, 16))
	}
	return list[:n]
}

// Release ends the use of a frame: its variables, their values, and all that comes from these must
// not be used any more. Later frames take their room. A frame need not be released.
func (f *Frame) Release() {
	if f.in == nil {
		return
	}
	m := &f.in.r.room
	m.shown, m.entered = Value{}, Value{}
	for c := f.in; c != nil && len(m.contexts) < maxRoom; { // and the contexts of callers that were asked for arguments
		caller := c.calledBy.c
		*c = context{bytes: c.bytes[:0]}
		m.contexts = append(m.contexts, c)
		c = caller
	}
	if cap(f.all) > cap(m.list) && cap(f.all) <= maxRoom {
		clear(f.all)
		m.list = f.all[:0]
	}
	*f = Frame{}
}
