package record

import (
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
)

// Name is a name that a sniffer or a language gives a frame.
type Name struct {
	FrameOnly bool // it is the name of the frame, and no name of the code counts; else files' names come first
	Function  string
	File      string // "" if it is not known
	Line      int    // from 1; 0 if it is not known
	Language  string // of a frame that is a language's, and is at no address
}

// NamingSniffer is a sniffer that has names for frames, such as a plug-in's.
type NamingSniffer interface {
	frame.Sniffer
	// NameOf returns the name of a frame that was walked just now, by its address in block and its
	// CFA.
	NameOf(block, cfa uint64) (function, file string, line int, frameOnly, ok bool)
}

// named asks the sniffers of a process that name frames.
type named struct {
	by   []NamingSniffer
	next uint64 // when what they have said is forgotten, on the clock of the samples
	cfas []uint64
}

func namedBy(t *frame.Table) (n named) {
	for _, s := range t.Sniffers() {
		if s, ok := s.(NamingSniffer); ok {
			n.by = append(n.by, s)
		}
	}
	if len(n.by) > 0 {
		n.cfas = make([]uint64, maxDepth)
	}
	return n
}

// namesHold is how long a sniffer's rows and names hold. Other code may be there later, and nobody
// tells when.
const namesHold = uint64(10 * time.Second)

// due reports whether what the sniffers have said should be forgotten.
func (n *named) due(now uint64) bool {
	if len(n.by) == 0 || now < n.next {
		return false
	}
	begun := n.next != 0
	n.next = now + min(namesHold, ^now)
	return begun
}

// walk walks the stack of a thread, whose registers and memory are at hand. If there are languages,
// which ask for frames with all of their registers, they get the ones of this walk. With
// [Options.Wall] the walker has to know the rows: see walkCached.
func (s *space) walk(th target.Thread, mem target.Memory) (n int, stop frame.StopReason) {
	s.needWalker()
	l := &s.languages
	l.frames = l.frames[:0]
	if len(l.runtimes) > 0 && !s.opts.Wall && s.resetStack(th, len(s.pcs)) {
		return s.walkFrames()
	}
	if s.searches == nil {
		return s.walker.WalkCFA(&s.regs, mem, s.pcs, s.named.cfas)
	}
	left := s.searchLeft()
	s.searches.Left.Store(left)
	n, stop = s.walker.WalkCFA(&s.regs, mem, s.pcs, s.named.cfas)
	s.searched += left - s.searches.Left.Load()
	return n, stop
}

// walkCached is walk for a thread of which only some registers are known. whole is false if that is
// not enough.
func (s *space) walkCached(mem target.Memory) (n int, whole bool) {
	s.needWalker()
	s.languages.frames = s.languages.frames[:0]
	return s.walker.WalkCached(&s.regs, mem, s.pcs, s.named.cfas)
}

// appendPlaces appends the places of the last walk's n frames to the stack, and what languages have
// in their places.
func (s *space) appendPlaces(n int) {
	l := &s.languages
	if len(l.frames) == n {
		for i, f := range l.frames {
			s.pcs[i] = f.AddressInBlock()
		}
	} else {
		s.walker.AddressesInBlock(s.pcs[:n])
	}
	for i, addr := range s.pcs[:n] {
		id := s.placeOf(addr)
		if len(s.named.by) > 0 {
			id = s.nameOf(id, addr, s.named.cfas[i])
		}
		s.appendPlace(i, id)
	}
	if len(l.frames) > manyFrames { // the next stack is smaller, most likely
		l.stack.Close()
		l.stack, l.frames = nil, nil
	}
}

// maxNamed and maxNamedBytes bound the names that sniffers and languages give.
const (
	maxNamed      = 1 << 16
	maxNamedBytes = 16 << 20
)

// nameOf returns the index of a place with the name that a sniffer has for it.
func (s *space) nameOf(id uint32, addr, cfa uint64) uint32 {
	for _, by := range s.named.by {
		function, file, line, frameOnly, ok := by.NameOf(addr, cfa)
		if !ok || function == "" {
			continue
		}
		n := s.tree.nameID(Name{FrameOnly: frameOnly, Function: function, File: file, Line: line})
		if n == 0 {
			return id
		}
		p := s.tree.places[id]
		p.name = n
		return s.tree.place(p)
	}
	return id
}

// nameID returns the number of a name; 0 if there are too many.
func (t *tree) nameID(name Name) uint32 {
	n, ok := t.nameIDs[name]
	bytes := len(name.Function) + len(name.File)
	switch {
	case ok:
	case len(t.named) >= maxNamed || t.nameBytes+bytes > maxNamedBytes:
		t.manyNamed = true
	default:
		t.nameBytes += bytes
		t.named = append(t.named, name)
		n = uint32(len(t.named))
		t.nameIDs[name] = n
	}
	return n
}
