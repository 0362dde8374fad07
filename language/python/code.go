package python

import (
	"bytes"
	"fmt"
	"sync"
)

// code is what is known of a code object.
type code struct {
	head                    []byte // the object's beginning, as it was read
	typ                     uint64
	name, file              string
	first                   int
	table                   uint64 // the object with the table of lines
	exceptions              uint64 // the object with the exception table; 0 if there is none
	names                   uint64 // the tuple of names of global variables and attributes; 0 if that is not known
	instructions, threadFor uint64 // of the first instruction; of the list of copies that threads have, 0 for none

	mu    sync.Mutex
	lines map[int64]int // by offset of the instruction, bytes

	handlers []handler
	handled  bool             // handlers were read
	guards   map[int64]*guard // by offset of the handler, bytes
}

// codes are the code objects that were read, by address. An object at the same address may be
// another one later: what is kept holds as long as the object's beginning is the same.
type codes struct {
	mu   sync.Mutex
	list map[uint64]*code
	typ  uint64 // the type of code objects
}

// mostCodes and mostLines bound what is kept.
const (
	mostCodes = 1 << 14
	mostLines = 1 << 10
)

// codeAt returns the code object at addr, nil if there is another object.
func (r *interpreter) codeAt(m *memory, addr uint64) (*code, error) {
	l := r.layout
	first := int(l.at[objectType]) // the reference count is before that
	rec, err := m.rest(addr, codeRoom, first, r.codePart)
	if err != nil {
		return nil, fmt.Errorf("a code object: %w", err)
	}
	head := rec.bytes[first:]
	r.known.mu.Lock()
	known := r.known.list[addr]
	codeType := r.known.typ
	r.known.mu.Unlock()
	if known != nil && bytes.Equal(known.head, head) {
		return known, nil
	}
	typ := rec.word(objectType)
	if typ != codeType || typ == 0 {
		if !m.called(typ, "code") {
			return nil, nil
		}
	}
	c := &code{head: bytes.Clone(head), typ: typ, first: int(rec.number(codeFirstLine)), table: rec.word(codeLines)}
	name := codeName
	if l.has(codeQualifiedName) {
		name = codeQualifiedName
	}
	if c.name, err = m.text(rec.word(name), maxString); err != nil {
		return nil, fmt.Errorf("the name of the code object at %#x: %w", addr, err)
	}
	if c.file, err = m.text(rec.word(codeFile), maxString); err != nil {
		return nil, fmt.Errorf("the file of the code object at %#x: %w", addr, err)
	}
	if l.has(codeHandlers) {
		c.exceptions = rec.word(codeHandlers)
	}
	// co_names is in front of what follows it in all releases.
	if l.has(codeHandlers) {
		c.names, _ = m.word(addr + l.at[codeHandlers] - uint64(m.size))
	} else if l.has(codeNames) {
		c.names, _ = m.word(addr + l.at[codeNames] - uint64(m.size))
	}
	if l.has(codeInstructions) {
		c.instructions = addr + l.at[codeInstructions]
	}
	if l.has(codeTLBC) {
		c.threadFor = rec.word(codeTLBC)
	}
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	if r.known.list == nil || len(r.known.list) == mostCodes {
		r.known.list = map[uint64]*code{}
	}
	r.known.list[addr], r.known.typ = c, typ
	return c, nil
}

// line returns the line of the instruction at offset, bytes from the first one; 0 if it has none.
func (c *code) line(m *memory, offset int64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if line, ok := c.lines[offset]; ok {
		return line
	}
	line := lineOf(m.layout.minor, m.stream(c.table), c.first, offset)
	if c.lines == nil || len(c.lines) == mostLines {
		c.lines = map[int64]int{}
	}
	c.lines[offset] = line
	return line
}

// start returns the address of the first instruction, in the copy of the code that a frame runs
// (free-threaded builds: one for each thread).
func (c *code) start(m *memory, copy int32) (uint64, error) {
	if c.threadFor == 0 || copy == 0 {
		return c.instructions, nil
	}
	n, err := m.word(c.threadFor)
	if err != nil {
		return 0, err
	}
	if copy < 0 || uint64(copy) >= n {
		return 0, fmt.Errorf("copy %d of code of which there are %d", copy, n)
	}
	return m.word(c.threadFor + uint64(m.size)*(1+uint64(copy)))
}
