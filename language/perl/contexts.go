package perl

import (
	"fmt"

	"github.com/sfwalk/sfwalk/language"
)

// segment is what one run loop runs: the frames of a chain, from the innermost to the one with
// which the loop began.
type segment struct {
	frames []language.Frame // the innermost first; none while the loop runs the block of a sort
	env    uint64           // the address of a JMPENV outside of this loop, and inside of the next; 0 for none
}

// position is a place in the code.
type position struct {
	cop  uint64 // the statement
	op   uint64 // that runs, or, if next, the one behind it; 0 for none
	next bool
}

// mostFrames bounds the frames of one stack.
const mostFrames = 1 << 17

// mostInfos bounds the PERL_SIs of one stack, and mostLooked the contexts of all kinds.
const (
	mostInfos  = 1 << 16
	mostLooked = 1 << 21
)

// contexts reads the contexts of an interpreter into segments, the innermost first. The last of
// them is the program itself. An error ends them early.
func (r *runtime) contexts(m reader, st state) (list []segment, err error) {
	c := &collector{r: r, m: m, now: position{cop: st.cop, op: st.op}, list: make([]segment, 1, 16), text: make([]byte, m.Context), names: map[uint64]string{}, places: map[position]place{}, ops: mostOps}
	looked, seen := 0, map[uint64]bool{}
	for info := st.info; info != 0; {
		at, max, sub := m.Int(info+m.SIIndex, 4), m.Int(info+m.SIMax, 4), int64(0)
		contexts, prev := m.Pointer(info+m.SIContexts), m.Pointer(info+m.SIPrev)
		if m.SISub != absent {
			sub = m.Int(info+m.SISub, 4)
		}
		if err := m.Err(); err != nil {
			return c.list, fmt.Errorf("a list of contexts: %w", err)
		}
		if looked += int(at) + 1; at < -1 || at > max || max >= mostContexts || seen[info] || len(seen) == mostInfos || looked > mostLooked {
			return c.list, fmt.Errorf("the list of contexts at %#x makes no sense", info)
		}
		seen[info], c.ended = true, false
		for i := at; i >= 0; i-- {
			c.half = m.SISub != absent && i > sub
			if err := c.context(contexts + uint64(i)*m.Context); err != nil {
				return c.list, err
			}
		}
		if at >= 0 && !c.ended && prev != 0 {
			c.end()
		}
		info = prev
	}
	c.add("(main)", 0)
	return c.list, nil
}

// collector collects segments.
type collector struct {
	r     *runtime
	m     reader
	now   position // of the next frame
	list  []segment
	total int    // frames
	bytes int    // of their names
	ended bool   // the last context was the first one of a run loop
	half  bool   // the next context, if it is a sub's or an eval's, is just being made, or taken away
	text  []byte // of one context

	names  map[uint64]string  // of subs: a recursion has the same ones
	places map[position]place // as far as they were looked for
	ops    int                // that may still be looked at
}

// place is a line.
type place struct {
	file string
	line int
}

// mostBytes bounds the names of one stack, and mostOps the ops that are looked at for its lines.
const (
	mostBytes = 16 << 20
	mostOps   = 1 << 18
)

func (c *collector) last() *segment { return &c.list[len(c.list)-1] }

// end says that a segment ends: what follows is of the next run loop.
func (c *collector) end() {
	c.list = append(c.list, segment{})
	c.ended = true
}

// add adds a frame that runs at the present position.
func (c *collector) add(function string, at uint64) {
	c.addTo(c.last(), function, at)
}

func (c *collector) addTo(s *segment, function string, at uint64) {
	in, known := c.places[c.now]
	if !known {
		in = c.r.where(c.m, c.now, &c.ops)
		c.places[c.now] = in
		c.bytes += len(in.file)
	}
	s.frames = append(s.frames, language.Frame{Function: function, File: in.file, Line: in.line, Place: at})
	c.total++
}

// sub returns the name of a sub.
func (c *collector) sub(cv uint64) string {
	name, known := c.names[cv]
	if !known {
		name = c.r.subName(c.m, cv)
		c.names[cv] = name
		c.bytes += len(name)
	}
	return name
}

// context reads one context.
func (c *collector) context(at uint64) error {
	m := c.m
	if !m.Bytes(at, c.text) {
		return fmt.Errorf("a context: %w", m.Err())
	}
	word := func(offset uint64) uint64 { return m.Arch.Order.Uint64(c.text[offset:]) }
	kind := uint64(c.text[m.ContextType])
	if t := kind & m.TypeMask; c.half && (t == m.TypeSub || t == m.TypeFormat || t == m.TypeEval) {
		return nil
	}
	name, sub := "", false
	retOp := word(m.ContextRetOp)
	switch kind & m.TypeMask {
	case m.TypeSub:
		sub = true
		if kind&m.Fake == 0 {
			name = c.sub(word(m.ContextCV))
		}
	case m.TypeFormat:
		name = c.sub(word(m.ContextCV))
	case m.TypeEval:
		if retOp == 0 && kind&m.TryBlock != 0 { // call_sv with G_EVAL: it belongs to what it calls
			s := c.last()
			if c.ended && len(c.list) > 1 {
				s = &c.list[len(c.list)-2]
			}
			c.addTo(s, "eval {...}", at)
			c.now = position{word(m.ContextCop), 0, true}
			return nil
		}
		if m.Try == absent || kind&m.Try == 0 {
			name = c.evalName(kind)
		}
		if s := c.last(); s.env == 0 {
			s.env = word(m.ContextEnv)
		}
	case m.TypeDefer:
		c.end()
		return nil
	default:
		c.ended = false
		return nil
	}
	if name != "" {
		c.add(name, at)
		c.now = position{word(m.ContextCop), retOp, true}
	}
	c.ended = false
	if retOp == 0 && (sub || kind&m.TypeMask == m.TypeEval) {
		c.end()
	}
	if c.total >= mostFrames || c.bytes > mostBytes {
		return fmt.Errorf("there are more than %d frames, or their names have more than %d bytes", mostFrames, mostBytes)
	}
	return nil
}

// evalName returns what Carp calls an eval, whose context is c.text.
func (c *collector) evalName(kind uint64) string {
	m := c.m
	op := uint64(m.Arch.Order.Uint16(c.text[m.ContextU16:])) >> m.OpTypeShift
	if op == m.OpEntereval {
		return "eval '...'"
	}
	if name := m.Arch.Order.Uint64(c.text[m.ContextName:]); name != 0 && kind&m.TryBlock == 0 {
		if file := c.r.text(m, name); file != "" {
			return "require " + file
		}
	}
	return "eval {...}"
}
