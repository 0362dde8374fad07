package frame

import (
	"errors"
	"fmt"
	"iter"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Stack is one thread's chain of frames. It makes them from the innermost outwards,
// when they are asked for. Frames live as long as their Stack. A Stack serves one
// goroutine at a time.
type Stack struct {
	// Limit is the most frames that the stack may have; 0 means no limit.
	Limit int

	// SearchLimit is about how many instructions of code that no table describes may be read
	// to find out how to unwind frames. Frames beyond are unwound by simpler means, or not at
	// all. 0 means [DefaultSearchLimit]; if it is negative, no code is searched through.
	SearchLimit int64

	// [Stack.RetakeIfMovedOn] calls Deeper, unless it is nil, now and then while it walks the
	// frames of a deep stack without making them. frames is how many it has walked so far. The
	// memory that it reads for them soon is garbage: Deeper may have it collected.
	Deeper func(frames int)

	// Thread is the ID of the stack's thread. New and Reset fill it in; it is 0 for a
	// [Walker].
	Thread int

	table        *Table
	target       target.Target
	thread       target.Thread
	modules      *target.Modules
	window       window
	arch         *arch.Arch
	sentinel     Frame
	live         *arch.Registers // of frame 0
	ownRegisters arch.Registers  // what live points to, but for a Walker's stack
	base         uint64          // a little further in than the innermost frame, see savedRegs
	query        Query
	buffer       readBuffer // of query
	slabs        []*slab
	made         int  // how many frames were made
	nDropped     int  // how many of them, the innermost, were dropped
	dropsInner   bool // inner frames are dropped, see AllOnce
	lacks        bool // see Lacks
	depth        int  // how many frames' rules lead to one another now, see maxDepth
	cycle        cycle
	preserved    preserved
	visited      visited
	search       *search  // of the walk that is under way: ownSearch, or walk's
	ownSearch    search   // for the frames
	searched     int64    // see Searched
	lastDropped  Frame    // the outermost frame that was dropped, with the registers of its PREVIOUS
	walk         *Context // of a Walker's stack: what is known of its THIS
	stale        bool     // the frames are of another walk
	generation   uint32   // of the frames
	spare        []*slab  // with the frames of the walk before
	slots        slots    // of frames that Unwinders have claimed; see Frame.Slot
	asked        asked    // the Unwinder that is asked now, if any
	deeper       deeper
}

// New makes the stack of one thread of a target. The error says why the thread's registers cannot
// be read, that PC or SP is not known, that an argument is nil, or that table is for another
// architecture than the target's. The target's Modules and Memory may be nil.
func New(t target.Target, thread target.Thread, table *Table) (*Stack, error) {
	s := &Stack{table: table}
	if err := s.Reset(t, thread); err != nil {
		return nil, err
	}
	return s, nil
}

// Reset makes s the stack of a thread as [New] does, with the same table and the same limits. The
// frames that s had are of another walk then: they keep their PC, CFA and ID until the next Reset,
// and have neither registers nor a PREVIOUS. The Reset after that uses their memory. After an error
// s has no frames that can be used.
func (s *Stack) Reset(t target.Target, thread target.Thread) error {
	switch {
	case t == nil:
		return errors.New("stack: the target is nil")
	case thread == nil:
		return errors.New("stack: the thread is nil")
	case s.table == nil || s.table.Arch == nil:
		return fmt.Errorf("stack of thread %d: there is no table of sniffers, or it is for no architecture", thread.ID())
	}
	s.target, s.thread = t, thread
	s.modules, s.arch, s.Thread = modulesOf(t.Modules()), t.Arch(), thread.ID()
	if s.arch == nil {
		return fmt.Errorf("stack of thread %d: the target's architecture is nil", thread.ID())
	}
	if !s.arch.Same(s.table.Arch) { // one architecture's descriptors may differ in their address mask
		return fmt.Errorf("stack of thread %d: the target is %s, the sniffers are for %s", thread.ID(), s.arch.Name, s.table.Arch.Name)
	}
	s.ownRegisters = arch.Registers{}
	s.live = &s.ownRegisters
	if err := thread.Registers(s.live); err != nil {
		return err
	}
	if !s.live.Known.Has(s.arch.PC) || !s.live.Known.Has(s.arch.SP) {
		return fmt.Errorf("stack of thread %d: PC or SP is not known", thread.ID())
	}
	for _, r := range s.arch.NarrowRegs {
		s.live.Value[r] = s.arch.Narrow(r, s.live.Value[r])
	}
	s.start(target.MemoryOf(t, thread))
	return nil
}

// Lacks reports whether anybody has asked a frame for a register ([Frame.Register]) that was not
// known: a sniffer, a rule of a row, or who uses the frames. If the thread has not told all of its
// registers, what was found may be another thing with them.
func (s *Stack) Lacks() bool { return s.lacks }

// Modules returns the modules of the stack's target; it is never nil.
func (s *Stack) Modules() *target.Modules { return s.modules }

// Memory returns the memory in which the stack is walked, with copies of what was read. It is the
// stack's own: it serves the same goroutine.
func (s *Stack) Memory() target.Memory { return &s.window }

// modulesOf returns modules, or empty ones if they are nil.
func modulesOf(modules *target.Modules) *target.Modules {
	if modules == nil {
		return target.NewModules(nil, nil)
	}
	return modules
}

// start makes s the stack of a thread whose registers are in s.live, without frames yet.
func (s *Stack) start(m target.Memory) {
	s.window.start(m, s.arch)
	s.query = Query{Modules: s.modules, Arch: s.arch, Memory: &s.window, rows: &s.table.rows, buffer: &s.buffer}
	s.ownSearch = search{}
	s.search = &s.ownSearch
	s.lacks = false
	s.deeper = deeper{walker: s.deeper.walker}
	s.restart()
}

// restart drops all frames: s makes them anew when they are asked for.
func (s *Stack) restart() {
	if s.slots != nil {
		s.dropAllSlots()
	}
	const page = 1 << 12
	s.base = s.live.Value[s.arch.SP]&^(page-1) - page
	if s.made > 0 {
		s.generation++
		s.slabs, s.spare = s.spare, s.slabs
	}
	s.sentinel = Frame{Level: -1, stack: s, typ: Sentinel, winner: -1, generation: s.generation}
	s.made, s.nDropped, s.cycle, s.preserved, s.depth, s.stale = 0, 0, cycle{}, preserved{}, 0, false
	s.visited = visited{spans: s.visited.spans[:0]}
}

// Frame returns the frame at a level: 0 is the innermost, -1 the sentinel. If the stack ends
// before it, the frame is nil, and the error says why; it is nil if the stack is
// whole. A level below -1 is an error.
func (s *Stack) Frame(level int) (f *Frame, err error) {
	if level < -1 {
		return nil, fmt.Errorf("frame %d: the sentinel, at level -1, is the innermost", level)
	}
	for f = &s.sentinel; f != nil && f.Level < level; f, err = f.Prev() {
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

// slabFrames is how many frames are allocated at once.
const slabFrames = 32

type slab [slabFrames]Frame

func (s *Stack) newFrame() *Frame {
	if s.dropsInner && s.made-s.nDropped == 2*keptFrames {
		s.dropInner()
	}
	if s.made-s.nDropped == len(s.slabs)*slabFrames {
		s.slabs = append(s.slabs, new(slab))
	}
	f := s.frame(s.made)
	s.made++
	if f.stack != nil {
		*f = Frame{} // a frame of the stack before was here
	}
	f.stack, f.generation = s, s.generation
	return f
}

// frame returns the frame at a level, which was made. For every dropped frame it returns
// lastDropped.
func (s *Stack) frame(level int) *Frame {
	if level -= s.nDropped; level < 0 {
		return &s.lastDropped
	}
	return &s.slabs[level/slabFrames][level%slabFrames]
}

// readWord reads one word of the target's pointer size.
func (s *Stack) readWord(addr uint64) (uint64, error) { return s.window.word(s.arch, addr) }

// cycle finds stacks that return to a frame they had (Brent's algorithm). The CFAs of normal frames
// grow, so that these cannot return. A signal frame may lead anywhere, and so may one of type
// OtherStack: their CFAs and PCs are watched, and the frames counted.
type cycle struct {
	cfa, pc uint64
	n, next int
}

// maxTurns is how many signal and OtherStack frames a stack may have: a thousand times what
// programs have.
const maxTurns = 1 << 16

func (c *cycle) seen(cfa, pc uint64) bool {
	if c.n > 0 && cfa == c.cfa && pc == c.pc || c.n == maxTurns {
		return true
	}
	if c.n++; c.n > c.next {
		c.cfa, c.pc, c.next = cfa, pc, 2*c.n
	}
	return false
}
