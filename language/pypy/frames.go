package pypy

import (
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// reader reads the frames of one thread, at one moment.
type reader struct {
	*runtime
	*structs.Reader
	known map[uint64]*code  // by their addresses
	all   map[uint64]uint64 // their addresses by their numbers; nil while it was not looked for them
	work  int               // how much more may be looked through, in words
	texts int               // how many bytes of texts may still be read

	sought bool // the map of compiled code was looked for
}

// Bounds of what is looked through for one thread, in words, and of its texts, bytes.
const (
	mostWork  = 1 << 21
	mostTexts = 16 << 20
)

// spend reports whether n more words may be looked through.
func (m *reader) spend(n int) bool {
	if m.work -= n; m.work < 0 {
		m.Fail("there is too much to look through")
	}
	return m.work >= 0
}

// text returns a text, or fails if there were too many.
func (m *reader) text(s string) string {
	if m.texts -= len(s); m.texts < 0 {
		m.Fail("the names have more than 16 MiB")
	}
	return s
}

// code is a code object.
type code struct {
	at         uint64
	number     uint64
	name, file string
	first      int
	hidden     bool
	lines      string
	read       bool // lines
}

// codeAt reads a code object; it returns nil if there is none.
func (m *reader) codeAt(addr uint64) *code {
	if c, ok := m.known[addr]; ok {
		return c
	}
	at, ok := m.object(m.Reader, addr, pyCode)
	if !ok {
		m.Fail("there is no code object at %#x", addr)
		return nil
	}
	l := &m.layout
	c := &code{
		at: at, number: m.Uint(at+l.number, 8), first: int(m.Int(at+l.first, 8)), hidden: m.Uint(at+l.hidden, 1) != 0,
		file: m.text(m.str(m.Reader, m.Pointer(at+l.file))),
	}
	name := m.Pointer(at + l.name)
	if l.qualified != 0 {
		name = m.Pointer(at + l.qualified)
	}
	c.name = m.text(m.str(m.Reader, name))
	if !m.OK() {
		return nil
	}
	m.known[addr] = c
	return c
}

// line returns the line of an instruction.
func (m *reader) line(c *code, instruction int64) int {
	if !c.read {
		c.read, c.lines = true, m.text(m.long(m.Reader, m.Pointer(c.at+m.layout.lines)))
		m.Err() // costs the line alone
	}
	return lineOf(c.lines, m.layout.table, c.first, instruction)
}

// chain is a place in a thread's list of frames, from which on it goes outward.
type chain struct {
	m     *reader
	at    uint64 // a frame, or what stands for one; 0 at the end
	token uint64 // the frame of compiled code that has the next frames in registers; 0 for none
	lost  bool   // the next frame is not known
	steps int
}

// pythonFrame is a frame in memory.
type pythonFrame struct {
	at, back    uint64
	instruction int64
	code        *code
}

// frame returns the next frame without going on, nil if it is not in memory, or there is none.
func (c *chain) frame() *pythonFrame {
	if c.lost || c.at == 0 || !c.m.OK() {
		return nil
	}
	at := c.at
	if ref, ok := c.m.object(c.m.Reader, at, virtualRef); ok {
		if at = c.m.Pointer(ref + c.m.layout.forced); at == 0 {
			c.token, c.lost = c.m.Pointer(ref+c.m.layout.token), true
			return nil
		}
	}
	f := c.m.frameAt(at)
	if f == nil {
		c.m.Fail("there is no frame at %#x", at)
	}
	return f
}

// frameAt reads a frame; it returns nil if there is none.
func (m *reader) frameAt(addr uint64) *pythonFrame {
	at, ok := m.object(m.Reader, addr, stdFrame, pyFrame)
	if !ok {
		return nil
	}
	f := &pythonFrame{at: at, back: m.Pointer(at + m.layout.back), instruction: m.Int(at+m.layout.instruction, 8), code: m.codeAt(m.Pointer(at + m.layout.code))}
	if f.code == nil || !m.OK() {
		return nil
	}
	return f
}

// next goes on behind a frame.
func (c *chain) next(f *pythonFrame) {
	c.at, c.lost, c.token = f.back, false, 0
	if c.steps++; c.steps > mostRecords {
		c.m.Fail("there are more than 2^17 frames")
	}
}

// inRegisters looks for a frame whose code has a number among what a frame of compiled code keeps.
func (m *reader) inRegisters(token, number uint64) *pythonFrame {
	for range 16 { // it may have become larger, and have moved
		at, ok := m.object(m.Reader, token, jitFrame)
		if !ok {
			m.Err()
			return nil
		}
		token = at
		next := m.Pointer(at + m.types.fields[jitFrame]["jf_forward"])
		if next == 0 {
			break
		}
		token = next
	}
	bits := m.Pointer(token + m.types.fields[jitFrame]["jf_gcmap"]) // which of its words are objects
	words := token + m.types.fields[jitFrame]["jf_frame"]           // their number, and they
	n := min(m.Uint(words, 8), 64*m.Uint(bits, 8), mostWords)
	for i := range n {
		if !m.spend(1) {
			return nil
		}
		if m.Uint(bits+word+i/64*word, 8)>>(i%64)&1 == 0 {
			continue
		}
		if f := m.frameAt(m.Pointer(words + word + i*word)); f != nil && f.code.number == number {
			return f
		}
		m.Err()
	}
	m.Err()
	return nil
}

// mostWords bounds the words of a frame of compiled code.
const mostWords = 1 << 14
