package symbol

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"sort"
	"sync"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/internal/interval"
)

// body is what is within a function that is not inlined: the calls that are inlined into it, and
// the calls that it makes.
type body struct {
	functions []function  // the function itself, then what was inlined into it, outer before inner
	ranges    [][2]uint64 // of the functions
	sites     []callSite  // ascending by pc
	jumps     []int32     // indexes in sites of the tail calls, ascending

	// inside has, of functions into which many calls are inlined directly, which of these has an
	// address: its index in functions.
	inside map[int]interval.Map[int32]
}

// function is a function's code: on its own, or inlined into another function. It has no pointers,
// so that collections of garbage pass by.
type function struct {
	subprogram
	at             uint64 // offset of its entry
	inline         bool
	callFile, line int32           // of the call, if inlined
	end            int32           // index behind the last function inlined into this one
	from, to       int32           // indexes of the body's ranges
	frameBase      dwarfdata.Value // DW_AT_frame_base; none if it is inlined
}

// rangesOf returns where the code of a function is.
func (b *body) rangesOf(f *function) [][2]uint64 { return b.ranges[f.from:f.to] }

// holds returns the range of a function that has an address.
func (b *body) holds(f *function, addr uint64) (start, end uint64, ok bool) {
	ranges := b.rangesOf(f)
	if len(ranges) > fewRanges {
		i := sort.Search(len(ranges), func(i int) bool { return ranges[i][1] > addr })
		ranges = ranges[i:min(i+1, len(ranges))]
	}
	for _, r := range ranges {
		if addr >= r[0] && addr < r[1] {
			return r[0], r[1], true
		}
	}
	return 0, 0, false
}

// body returns what is within the function at index i of a unit.
func (d *debugInfo) body(u *unit, c *contents, i int32) *body {
	at := c.functions[i].start
	if b := u.details.body(at); b != nil {
		return b
	}
	// What was taken before an error is used, and not tried again.
	r := bodyReader{d: d, u: u, held: holding{room: d.room}}
	parts := bodyParts.Get().(*parts)
	defer bodyParts.Put(parts)
	r.parts = *parts
	if err := r.read(u.Start+uint64(at), u.Start+uint64(c.functions[i].end)); err != nil {
		d.warn(fmt.Errorf("read function at offset %#x of .debug_info: %w", u.Start+uint64(at), err))
	}
	b := r.finish()
	*parts = r.parts
	u.details.keepBody(at, b, &r.held)
	return b
}

// bodyReader reads what is within a function.
type bodyReader struct {
	parts
	d    *debugInfo
	u    *unit
	held holding
	c    dwarfdata.Cursor
}

// parts are what a body is made of, in room that is used again for the next one.
type parts struct {
	functions []function
	sites     []callSite
	ranges    [][2]uint64
	levels    []bodyLevel
}

var bodyParts = sync.Pool{New: func() any { return new(parts) }}

// bodyLevel is a level of nesting in a function.
type bodyLevel struct {
	function int32 // index of the function around the entries there; -1 in a function within the function
	opened   bool  // the entries there are that function's children
	owner    int32 // index of the function whose parameters are there; -1 if there is none
}

func (r *bodyReader) read(lo, hi uint64) error {
	d, u := r.d, r.u
	d.mu.Lock()
	table, err := d.abbrevs(u)
	d.mu.Unlock()
	if err != nil {
		return err
	}
	if !d.room.work(int64(hi - lo)) {
		return errTooMuch
	}
	room := borrow(hi - lo)
	defer giveBack(room)
	data, err := d.unitBit(u, lo, hi, room)
	if err != nil {
		return err
	}
	r.c = dwarfdata.Cursor{Reader: dwarfdata.New(data, d.order), Unit: &u.Unit, Base: lo}
	r.levels = append(r.levels, bodyLevel{function: -1, owner: -1})
	c := &r.c
	for c.More() {
		off := c.Offset()
		code := c.ULEB128()
		if code == 0 && !c.Bad {
			at := r.levels[len(r.levels)-1]
			if at.opened {
				r.functions[at.function].end = int32(len(r.functions))
			}
			if r.levels = r.levels[:len(r.levels)-1]; len(r.levels) <= 1 {
				return nil
			}
			continue
		}
		a := table.Find(code)
		if a == nil && !c.Bad {
			return fmt.Errorf("entry at offset %#x: no abbreviation has code %d", off, code)
		}
		if c.Bad {
			return r.cut(off)
		}
		at := r.levels[len(r.levels)-1]
		inner := bodyLevel{function: at.function, owner: -1}
		var sibling uint64
		switch {
		case a.Tag == dwarf.TagFormalParameter:
			if at.owner >= 0 {
				r.functions[at.owner].arguments = true
			}
			c.SkipTo(a)
		case plainBlock(a):
			inner.owner = at.owner
			c.SkipTo(a)
		case a.Tag == dwarf.TagSubprogram && len(r.levels) > 1:
			inner.function = -1
			sibling = c.SkipTo(a)
		case a.Tag == dwarf.TagSubprogram || a.Tag == dwarf.TagInlinedSubroutine:
			if err := r.function(a, off, at, &inner); err != nil {
				return err
			}
		case isCallSite(a.Tag):
			e := readCallEntry(c, a)
			if !c.Bad && at.function >= 0 {
				if err := r.site(&e); err != nil {
					return err
				}
			}
		default:
			if sibling = c.SkipTo(a); scanKind(a.Kind) != scanPast && scanKind(a.Kind) != scanEnum {
				sibling = 0
			}
		}
		switch {
		case c.Err != nil:
			return fmt.Errorf("entry at %w", c.Err)
		case c.Bad:
			return r.cut(off)
		case !a.Children:
			if inner.opened {
				r.functions[inner.function].end = int32(len(r.functions))
			}
			continue
		case len(r.levels) == maxDepth:
			return fmt.Errorf("entry at offset %#x: nested deeper than %d", off, maxDepth)
		}
		if sibling > c.Offset() && sibling < hi {
			c.Take(sibling - c.Offset())
			continue
		}
		r.levels = append(r.levels, inner)
	}
	return nil
}

// cut returns why the entry at an offset cannot be read.
func (r *bodyReader) cut(off uint64) error {
	if r.c.Overflow {
		return fmt.Errorf("entry at offset %#x: cut off by a number of more than 64 bits", off)
	}
	return fmt.Errorf("entry at offset %#x: cut off by the function's end (%#x)", off, r.c.Base+uint64(len(r.c.Data)))
}

// function adds a function, whose entry at an offset is on the level at. It sets up inner for the
// entry's children.
func (r *bodyReader) function(a *dwarfdata.Abbrev, off uint64, at bodyLevel, inner *bodyLevel) error {
	e := readEntry(&r.c, a)
	if r.c.Bad {
		return nil
	}
	inline := a.Tag == dwarf.TagInlinedSubroutine
	e.asked, e.held = true, &r.held
	before := len(r.ranges)
	ranges, err := r.d.appendRanges(r.ranges, r.u, r.u.head, &e)
	if err == errTooMuch {
		return err
	}
	r.ranges = ranges
	if ranges = ranges[before:]; len(ranges) == 0 || inline && (at.function < 0 || e.callFile.Class == dwarfdata.ClassNone || e.callLine.Class == dwarfdata.ClassNone) {
		return nil // no code, or GDB's rule for a call from an unknown line; its children belong to the function around it
	}
	const size = 280 // bytes, with the room to grow
	if err := r.held.take(size); err != nil {
		return err
	}
	f := function{subprogram: newSubprogram(&e), inline: inline, at: off, from: int32(before), to: int32(before + len(ranges))}
	if f.enters = ranges[0][0]; e.entered {
		f.enters = e.enters
	}
	if !inline {
		f.frameBase = e.frameBase
	} else {
		f.callFile, f.line = lineNumber(e.callFile), lineNumber(e.callLine)
	}
	i := int32(len(r.functions))
	r.functions = append(r.functions, f)
	*inner = bodyLevel{function: i, opened: true, owner: i}
	return nil
}

// site adds a call.
func (r *bodyReader) site(e *callEntry) error {
	s, ok := r.d.newSite(r.u, e)
	if !ok {
		return nil
	}
	const size = 100 // bytes, with the room to grow
	if err := r.held.take(size); err != nil {
		return err
	}
	r.sites = append(r.sites, s)
	return nil
}

// finish makes a body of what was read, and empties the room.
func (r *bodyReader) finish() *body {
	b := &body{functions: slices.Clone(r.functions), sites: slices.Clone(r.sites), ranges: slices.Clone(r.ranges)}
	for i := range b.functions {
		f := &b.functions[i]
		if f.end == 0 { // cut off by an error
			f.end = int32(len(b.functions))
		}
		b.sortRanges(f)
	}
	b.indexCalls()
	b.sortSites()
	r.parts = parts{r.functions[:0], r.sites[:0], r.ranges[:0], r.levels[:0]}
	return b
}
