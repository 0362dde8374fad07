package symbol

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/elf"
)

// subprogram is what one entry of a function says of it. A function often has three: for its code,
// its abstract instance and its declaration.
type subprogram struct {
	name, linkage dwarfdata.Value
	origin        dwarfdata.Value // reference to the entry that says more, if there is one
	enters        uint64          // of its code; nowhere if it has none
	arguments     bool
	declared      bool // another entry, maybe in another unit, defines it
	specified     bool // origin refers to the declaration of what this entry defines
	allJumps      bool // all its tail calls are among its call sites
}

// newSubprogram returns what an entry says by its own attributes. Where its code is entered is left
// open.
func newSubprogram(e *entry) subprogram {
	s := subprogram{name: e.name, linkage: e.linkage, origin: e.origin, enters: nowhere, declared: e.declared, allJumps: e.allJumps}
	if !e.origin.Reference() {
		s.origin, s.specified = e.specification, e.specification.Reference()
	}
	return s
}

// subprogramEntry is a subprogram, and where its entry is.
type subprogramEntry struct {
	subprogram
	d   *debugInfo
	u   *unit
	off uint64
}

// want says what of a function is asked for, beside its names.
type want uint8

const (
	wantName      want = iota
	wantArguments      // whether it has some
	wantCode           // where it is entered
)

// maxOrigins bounds the entries that describe one function, each referring to the
// next: its code, its abstract instance, its declaration; more with LTO.
const maxOrigins = 16

// unitFor returns the DWARF and the unit that have the entry that to refers to, most likely the
// unit near. The unit is open.
func (d *debugInfo) unitFor(near *unit, to dwarfdata.Value) (*debugInfo, *unit) {
	switch {
	case !to.Reference():
		return nil, nil
	case to.Class == dwarfdata.ClassSupReference:
		if d = d.supplement(); d == nil {
			return nil, nil
		}
	case to.N >= near.Entry && to.N < near.End:
		return d, near
	}
	u := d.unitAt(to.N)
	if u == nil {
		return nil, nil
	}
	d.open(u)
	return d, u
}

// subprogramAt reads the entry of a function. u has it.
func (d *debugInfo) subprogramAt(u *unit, off uint64, w want) (x subprogramEntry, ok bool) {
	x = subprogramEntry{d: d, u: u, off: off}
	var a *dwarfdata.Abbrev
	var sibling uint64
	first, depth, past := true, 1, 0 // levels that may have parameters, and levels within such levels that have none
	err := d.eachEntry(u, off, func(uint64) { a = nil }, func(c *dwarfdata.Cursor, of *dwarfdata.Abbrev) {
		if a = of; !first {
			sibling = c.SkipTo(a)
			return
		}
		e := readEntry(c, a)
		if ok = a.Tag == dwarf.TagSubprogram && !c.Bad; !ok {
			return
		}
		x.subprogram = newSubprogram(&e)
		if e.asked = true; w == wantCode {
			ranges, err := d.appendRanges(nil, u, u.head, &e)
			if d.lessOf(err); err == nil && len(ranges) > 0 {
				if x.enters = ranges[0][0]; e.entered {
					x.enters = e.enters
				}
			}
		}
	}, func(end uint64) (next uint64, more bool) {
		switch {
		case first:
			first = false
			return end, ok && w == wantArguments && a.Children
		case a == nil && past > 0:
			past--
		case a == nil:
			depth--
		case past == 0 && a.Tag == dwarf.TagFormalParameter:
			x.arguments = true
			return end, false
		case !a.Children:
		case past == 0 && plainBlock(a):
			depth++
		case sibling > end && sibling < u.End:
			end = sibling
		default:
			past++
		}
		return end, depth > 0 && depth+past < maxDepth
	})
	d.lessOf(err)
	return x, ok
}

// lessOf warns once if an error says that there was too much to read all names of functions.
func (d *debugInfo) lessOf(err error) {
	if errors.Is(err, elf.ErrBudget) {
		d.many.Do(func() { d.warn(fmt.Errorf("read names of functions: %w", err)) })
	}
}

// next reads the entry that x refers to for more.
func (x *subprogramEntry) next(w want) (next subprogramEntry, ok bool) {
	d, u := x.d.unitFor(x.u, x.origin)
	if u == nil {
		return next, false
	}
	return d.subprogramAt(u, x.origin.N, w)
}

// scoped returns the index of the scope that the entry is in; -1 if there is none.
func (x *subprogramEntry) scoped() int32 {
	c := x.d.load(x.u)
	i := c.scopeAround(x.u, x.off)
	if i >= 0 && c.scopes[i].none {
		return -1
	}
	return i
}

// named is what the entries of a function say of its name.
type named struct {
	linkage   string
	arguments bool
	language  language
	by        entryName // the first name
	last      entryName // of the entry that says least of the code, whose scope counts
	symbol    string    // the readable form of the linkage name, where that is what is shown
}

// entryName is the name of an entry, which is read when it is asked for: most functions are shown
// by a linkage name.
type entryName struct {
	d    *debugInfo
	u    *unit
	off  uint64
	name dwarfdata.Value
}

func (e *entryName) text() string { return e.d.text(e.u, e.name) }

// prefix returns "outer::inner::" for the scopes around the entry.
func (e *entryName) prefix() string { return e.d.prefix(e.u, e.off) }

// named returns what one entry says.
func (x *subprogramEntry) named() *named {
	own := entryName{x.d, x.u, x.off, x.name}
	return &named{linkage: x.d.text(x.u, x.linkage), arguments: x.arguments, language: x.u.head.language, by: own, last: own}
}

// with returns what n and the entry that it refers to say together. next may be nil.
func (n *named) with(next *named) *named {
	if next == nil {
		n.read()
		return n
	}
	sum := *n
	if sum.linkage == "" {
		sum.linkage = next.linkage
	}
	if !n.by.name.Text() {
		sum.by = next.by
	}
	sum.arguments = n.arguments || next.arguments
	sum.last = next.last
	if next.language != languageUnknown { // a partial unit may be without a language
		sum.language = next.language
	}
	if sum.symbol = next.symbol; n.linkage != "" || sum.by != next.by || sum.language != next.language {
		sum.read()
	}
	return &sum
}

// read makes the linkage name readable, if that is what is shown.
func (n *named) read() {
	n.symbol = ""
	switch {
	case n.language == languageAda:
		n.symbol = adaName(cmp.Or(n.linkage, n.by.text()))
	case n.linkage != "" && n.language != languageScope && n.language != languageFortran:
		n.symbol = demangleFunction(n.linkage)
	}
}

// namedAt returns what the entry that to refers to says, and the entries that it refers to; nil if
// there is none.
func (d *debugInfo) namedAt(near *unit, to dwarfdata.Value) (n *named) {
	d, u := d.unitFor(near, to)
	if u == nil {
		return nil
	}
	if n := detail(&u.details, namedOf, to.N); n != nil {
		return n
	}
	var list []*named
	for x, ok := d.subprogramAt(u, to.N, wantArguments); ok && len(list) < maxOrigins; x, ok = x.next(wantArguments) {
		list = append(list, x.named())
	}
	for i := len(list) - 1; i >= 0; i-- {
		n = list[i].with(n)
	}
	if n != nil {
		keepDetail(&u.details, namedOf, to.N, n, len(n.linkage)+len(n.symbol))
	}
	return n
}
