package frame

import (
	"errors"
	"fmt"
	"iter"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Stack is one thread's chain of frames, made from the innermost outwards as
// they are asked for. Frames live as long as their stack. A Stack serves one
// goroutine at a time.
type Stack struct {
	// Limit is the most frames that the stack may have; 0 means no limit.
	Limit int

	thread   target.Thread
	table    *Table
	modules  *target.Modules
	memory   target.Memory
	arch     *arch.Arch
	sentinel Frame
	live     arch.Registers
	query    Query
	slab     []Frame // room for the next frames: they are made many at a time
	word     [8]byte
	cycle    cycle
}

// New makes the stack of one thread of a target. The error says why the
// thread has no registers.
func New(t target.Target, thread target.Thread, table *Table) (*Stack, error) {
	s := &Stack{thread: thread, table: table, modules: t.Modules(), memory: t.Memory(), arch: t.Arch()}
	if s.arch.Name != table.Arch.Name { // one architecture's descriptors may differ in their address mask
		return nil, fmt.Errorf("stack of thread %d: the target is %s, the sniffers are for %s", thread.ID(), s.arch.Name, table.Arch.Name)
	}
	if err := thread.Registers(&s.live); err != nil {
		return nil, err
	}
	if !s.live.Known.Has(s.arch.PC) || !s.live.Known.Has(s.arch.SP) {
		return nil, fmt.Errorf("stack of thread %d: PC or SP is not known", thread.ID())
	}
	s.query = Query{Modules: s.modules, Arch: s.arch, Memory: s.memory}
	s.sentinel = Frame{Level: -1, stack: s, typ: Sentinel}
	return s, nil
}

// Frame returns the frame at a level, 0 being the innermost. Where the stack ends before
// it, the frame is nil and the error says why, nil for a stack that is whole.
func (s *Stack) Frame(level int) (*Frame, error) {
	f, err := s.sentinel.Prev()
	for ; f != nil && f.Level < level; f, err = f.Prev() {
	}
	return f, err
}

// Sentinel returns the frame at level -1, whose PREVIOUS is frame 0.
func (s *Stack) Sentinel() *Frame { return &s.sentinel }

// All yields the frames from the innermost outwards. A stack that ends early
// yields a nil frame and a [*StopError] last.
func (s *Stack) All() iter.Seq2[*Frame, error] {
	return func(yield func(*Frame, error) bool) {
		f, err := s.sentinel.Prev()
		for ; f != nil; f, err = f.Prev() {
			if !yield(f, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func (s *Stack) newFrame() *Frame {
	if len(s.slab) == 0 {
		s.slab = make([]Frame, 32)
	}
	f := &s.slab[0]
	s.slab = s.slab[1:]
	f.stack = s
	return f
}

// readWord reads one word of the target's pointer size.
func (s *Stack) readWord(addr uint64) (uint64, error) {
	p := s.word[:s.arch.PtrSize]
	if n, err := s.memory.ReadMemory(addr, p); n < len(p) {
		if err == nil {
			err = target.ErrUnmapped
		}
		return 0, &readError{addr, err}
	}
	if len(p) == 4 {
		return uint64(s.arch.Order.Uint32(p)), nil
	}
	return s.arch.Order.Uint64(p), nil
}

// readError is a word that could not be read.
type readError struct {
	addr uint64
	err  error
}

func (e *readError) Error() string {
	if errors.Is(e.err, target.ErrUnmapped) {
		return fmt.Sprintf("cannot read memory at %#x", e.addr)
	}
	return fmt.Sprintf("cannot read memory at %#x: %v", e.addr, e.err)
}

func (e *readError) Unwrap() error { return e.err }

// cycle finds stacks that return to a frame they had (Brent's algorithm).
// Between normal frames the growing CFA forbids that; a signal frame may lead
// anywhere, so its IDs are watched.
type cycle struct {
	cfa, pc uint64
	n, next int
}

func (c *cycle) seen(cfa, pc uint64) bool {
	if c.n > 0 && cfa == c.cfa && pc == c.pc {
		return true
	}
	if c.n++; c.n > c.next {
		c.cfa, c.pc, c.next = cfa, pc, 2*c.n
	}
	return false
}
