package perl

import (
	"fmt"

	"github.com/sfwalk/sfwalk/language"
)

// segment is what one run loop runs: the frames of a chain, from the innermost to the one with which
// the loop began.
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

// contexts reads the contexts of an interpreter into segments, the innermost first. The last of them
// is the program itself. An error ends them early.
func (r *runtime) contexts(m reader, st state) (list []segment, err error) {
	c := &collector{r: r, m: m, now: position{cop: st.cop, op: st.op}, list: make([]segment, 1, 16), text: make([]byte, m.Context)}
	looked := 0
	for info, n := st.info, 0; info != 0; n++ {
		at, max, sub := m.Int(info+m.SIIndex, 4), m.Int(info+m.SIMax, 4), int64(0)
		contexts, prev := m.Pointer(info+m.SIContexts), m.Pointer(info+m.SIPrev)
		if m.SISub != absent {
			sub = m.Int(info+m.SISub, 4)
		}
		if err := m.Err(); err != nil {
			return c.list, fmt.Errorf("a list of contexts: %w", err)
		}
		if looked += int(at) + 1; at < -1 || at > max || max >= mostContexts || n == mostInfos || looked > mostLooked {
			return c.list, fmt.Errorf("the list of contexts at %#x makes no sense", info)
		}
		c.ended = false
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
	ended bool   // the last context was the first one of a run loop
	half  bool   // the next context, if it is a sub's or an eval's, is just being made, or taken away
	text  []byte // of one context
}

func (c *collector) last() *segment { return &c.list[len(c.list)-1] }

// end says that a segment ends: what follows is of the next run loop.
func (c *collector) end() {
	c.list = append(c.list, segment{})
	c.ended = true
}

// add adds a frame that runs at the present position.
func (c *collector) add(function string, place uint64) {
	c.addTo(c.last(), function, place)
}

func (c *collector) addTo(s *segment, function string, place uint64) {
	file, line := c.r.where(c.m, c.now)
	s.frames = append(s.frames, language.Frame{Function: function, File: file, Line: line, Place: place})
	c.total++
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
			name = c.r.subName(m, word(m.ContextCV))
		}
	case m.TypeFormat:
		name = c.r.subName(m, word(m.ContextCV))
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
	if c.total >= mostFrames {
		return fmt.Errorf("there are more than %d frames", mostFrames)
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
