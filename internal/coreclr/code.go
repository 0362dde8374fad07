package coreclr

import (
	"errors"

	"github.com/sfwalk/sfwalk/format/pdata"
	"github.com/sfwalk/sfwalk/target"
)

const (
	lastStub      = 15      // what stands for the header of a stub is at most this
	mostFunctions = 1 << 12 // of one method: its body, and its handlers
	functionSize  = 12      // bytes
)

// The errors of [Runtime.Find].
var (
	ErrNoCode = errors.New("the run time has no code at PC")
	ErrStub   = errors.New("PC is in a stub of the run time's")
	ErrUnread = errors.New("the run time's structures cannot be read")
)

// Code is a piece of managed code.
type Code struct {
	Start    uint64         // where the method's code begins
	Base     uint64         // what Function counts from
	Function pdata.Function // the part of the method that has PC: its body, or a handler
	Method   uint64         // its record (MethodDesc); 0 if there is none
	Brought  bool           // an assembly has brought it along

	places  uint64 // of code that was compiled: the list of places; 0 if there is none
	clauses uint64 // of code that was compiled: the list of its clauses; 0 if there is none
	header  uint64 // of code that was brought along: the assembly's header for it
	index   uint32 // and the number of the method's body among the functions
}

// IsHandler reports whether c is a handler of a method, such as a catch clause: it runs in a frame
// of its own, and has the frame pointer of the method's body.
func (c *Code) IsHandler() bool { return c.Base+uint64(c.Function.Begin) != c.Start }

// Find returns the code that has pc.
func (r *Runtime) Find(m target.Memory, pc uint64) (c Code, err error) {
	s, ok := r.sectionOf(m, pc)
	switch {
	case !ok:
		return c, ErrNoCode
	case s.module != 0:
		return r.brought(m, &s, pc)
	case s.heap != 0 && s.flags&flagHeap != 0:
		return r.compiled(m, &s, pc)
	}
	return c, ErrStub
}

// compiled returns code that was compiled at run time. Its header is where the word before it says.
func (r *Runtime) compiled(m target.Memory, s *section, pc uint64) (c Code, err error) {
	start, ok := r.beginsAt(m, s.heap, pc)
	if !ok {
		return c, ErrNoCode
	}
	header := word(m, start-8)
	if header <= lastStub {
		return c, ErrStub
	}
	n, ok := half(m, header+r.header.count)
	if !ok || n == 0 || n > mostFunctions {
		return c, ErrUnread
	}
	list := make([]byte, n*functionSize)
	if !read(m, header+r.header.functions, list) {
		return c, ErrUnread
	}
	c = Code{Start: start, Base: start - uint64(order.Uint32(list)), Method: word(m, header+r.header.method), places: word(m, header+r.header.debug), clauses: word(m, header+r.header.clauses)}
	if pc-c.Base > mostHeap {
		return c, ErrUnread
	}
	for ; len(list) > 0; list = list[functionSize:] {
		if c.Function = function(list); c.Function.Contains(uint32(pc - c.Base)) {
			return c, nil
		}
	}
	return c, ErrNoCode
}

func function(b []byte) pdata.Function {
	return pdata.Function{Begin: order.Uint32(b), End: order.Uint32(b[4:]), Unwind: order.Uint32(b[8:])}
}

// Image is memory at a base, of an assembly or of a heap of code. It implements [pdata.Reader].
type Image struct {
	target.Memory
	Base uint64
}

// ReadRVA implements [pdata.Reader].
func (i Image) ReadRVA(rva uint32, p []byte) (n int) {
	n, _ = i.ReadMemory(i.Base+uint64(rva), p)
	return n
}
