package symbol

import (
	"cmp"
	"fmt"
	"strings"
)

// place is a line of a source file.
type place struct {
	file string
	line int32
	dir  string // of the unit
}

// shown is the form in which a function is shown.
type shown struct {
	name string
	args Args
}

// find is [Symbolizer.Locate] for a link-time address. If no function is known, chain is
// empty, and at is the line of the code, if that is known.
func (d *debugInfo) find(addr uint64, at *place) (chain []Location) {
	var room [4]span
	list, units := d.candidates(addr, room[:0])
	for i := len(list) - 1; i >= 0 && chain == nil; i-- {
		chain = d.findIn(units[list[i].Value], addr, at)
	}
	if chain != nil || at.file != "" {
		return chain
	}
	covered := false
	d.whole().Find(addr, func(r span) bool {
		covered = true
		chain = d.findIn(d.units[r.Value], addr, at)
		return chain == nil
	})
	if !covered {
		d.uncovered(addr, func(u *unit) bool {
			chain = d.findIn(u, addr, at)
			return chain == nil
		})
	}
	return chain
}

// findIn is find in one unit.
func (d *debugInfo) findIn(u *unit, addr uint64, at *place) (chain []Location) {
	d.load(u)
	where, lined := u.lines.find(addr)
	of := u
	if u.split != nil {
		d, of = u.split.info, u.split.unit
	}
	of.code.Find(addr, func(s span) bool {
		chain = d.chain(of, int(s.Value), addr, where)
		return false
	})
	if lined && at.file == "" {
		*at = where
	}
	return chain
}

// maxInlined bounds the depth of inlined calls at one address. Compilers inline some dozens deep.
const maxInlined = 256

// chain returns the function at index i of a unit and the calls inlined into it
// at addr, innermost first. where is the line of addr. The line of each outer
// function is the line of the call in it.
func (d *debugInfo) chain(u *unit, i int, addr uint64, where place) []Location {
	var calls [16]int
	nest := append(calls[:0], i)
	in := u.inlinedAt(i, addr)
	for ; in >= 0 && len(nest) < maxInlined; in = u.inlinedAt(in, addr) {
		nest = append(nest, in)
	}
	if in >= 0 { // the innermost are left out
		d.deep.Do(func() {
			const text = "calls are inlined more than %d deep at %#x: the inner ones are left out"
			d.warn(fmt.Errorf(text, maxInlined, addr))
		})
		where = d.calledAt(u, &u.functions[in])
	}
	chain := make([]Location, 0, len(nest))
	for k := len(nest) - 1; k >= 0; k-- {
		f := &u.functions[nest[k]]
		start, end, _ := f.holds(addr)
		s := d.show(u, f)
		chain = append(chain, Location{
			Function: s.name, Args: s.args,
			Start: start, End: end, Offset: addr - start, Entry: f.enters,
			File: where.file, Dir: where.dir, Line: int(where.line),
			Inline: f.inline,
		})
		where = place{}
		if f.line != 0 {
			where = d.calledAt(u, f)
		}
	}
	return chain
}

// calledAt returns the place of a call that is inlined. If the line table has no such file (it may be file 0 of
// DWARF before version 5, or there may be no table), the call is in the file that the unit is named by, as GDB has
// it.
func (d *debugInfo) calledAt(u *unit, f *function) place {
	if file := u.lines.fileName(int(f.callFile)); file != "" {
		return place{file, f.line, u.lines.folder()}
	}
	return place{d.unitFile(u), f.line, d.text(u, u.head.dir)}
}

// maxOrigins bounds the entries that describe one function, each referring to the
// next: its code, its abstract instance, its declaration; more with LTO.
const maxOrigins = 16

// show returns a function's name and whether it has arguments.
func (d *debugInfo) show(u *unit, f *function) *shown {
	s := f.subprogram
	if v := s.shown.Load(); v != nil {
		return v
	}
	v := &shown{args: ArgsNone}
	var name, linkage string
	own, ownUnit := d, u
	last, lastUnit, lang := s, u, languageFlat
	for x, hops := s, 0; x != nil && hops < maxOrigins; hops++ {
		last, lastUnit = x, u
		if u.head.language != languageUnknown { // a partial unit may be without a language
			lang = u.head.language
		}
		if linkage == "" {
			linkage = d.text(u, x.linkage)
		}
		if name == "" {
			name = d.text(u, x.name)
		}
		if x.arguments {
			v.args = ArgsSome
		}
		if !x.origin.reference() {
			break
		}
		next, of, unit := d.subprogramAt(u, x.origin)
		if next == nil {
			break
		}
		d, x, u = of, next, unit
	}
	switch {
	case lang == languageAda:
		v.name = adaName(cmp.Or(linkage, name))
	case linkage != "" && lang != languageScope && lang != languageFortran:
		v.name = demangleFunction(linkage)
	case lang != languageFlat && name != "":
		prefix := d.scopePrefix(lastUnit, last.scope)
		if lang == languageCXX {
			if name = CanonicalName(name); !strings.Contains(name, "<") {
				name += own.templateTypes(ownUnit, f.at)
			}
		}
		switch {
		case lang == languageCXX && !f.inline:
			v.name = withParameters(prefix+name, own.parameters(ownUnit, f.at))
		default:
			v.name = prefix + name
		}
	default:
		v.name = name
	}
	s.shown.Store(v)
	return v
}

// subprogramAt returns the function that to refers to, with its DWARF and unit; nil if there is none.
// The function's entry is most likely in the unit near.
func (d *debugInfo) subprogramAt(near *unit, to value) (*subprogram, *debugInfo, *unit) {
	if to.class == classSupReference {
		if d = d.supplement(); d == nil {
			return nil, nil, nil
		}
	}
	if to.class == classSupReference || to.n < near.entry || to.n >= near.end {
		if near = d.unitAt(to.n); near == nil {
			return nil, nil, nil
		}
		d.load(near)
	}
	return near.dies[to.n], d, near
}

// scopePrefix returns "outer::inner::" for a scope of u.
func (d *debugInfo) scopePrefix(u *unit, i int32) string {
	var names []string
	for ; i > 0 && len(names) < maxDepth; i = u.scopes[i].parent {
		name := "(anonymous namespace)"
		if u.scopes[i].name.class != classNone {
			if name = d.text(u, u.scopes[i].name); u.head.language == languageCXX {
				name = CanonicalName(name)
			}
		}
		names = append(names, name)
	}
	var b strings.Builder
	for k := len(names) - 1; k >= 0; k-- {
		b.WriteString(names[k])
		b.WriteString("::")
	}
	return b.String()
}
