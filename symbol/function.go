package symbol

import (
	"fmt"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
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
	in := d.described(u)
	where, lined := d.linesOf(u).find(addr)
	in.c.code.Find(addr, func(s span) bool {
		in.i = s.Value
		chain = in.chain(addr, where)
		return false
	})
	if lined && at.file == "" {
		*at = where
	}
	return chain
}

// maxInlined bounds the depth of inlined calls at one address. Compilers inline some dozens deep.
const maxInlined = 256

// chain returns the function and the calls inlined into it at addr, innermost first. where is the
// line of addr. The line of each outer function is the line of the call in it.
func (at *codeAt) chain(addr uint64, where place) []Location {
	d, u, b := at.d, at.u, at.body()
	if b == nil {
		return nil
	}
	var calls [16]int
	nest := append(calls[:0], 0)
	in := b.inlinedAt(0, addr)
	for ; in >= 0 && len(nest) < maxInlined; in = b.inlinedAt(in, addr) {
		nest = append(nest, in)
	}
	if in >= 0 { // the innermost are left out
		d.deep.Do(func() {
			const text = "calls are inlined more than %d deep at %#x: the inner ones are left out"
			d.warn(fmt.Errorf(text, maxInlined, addr))
		})
		where = d.calledAt(u, &b.functions[in])
	}
	chain := make([]Location, 0, len(nest))
	for k := len(nest) - 1; k >= 0; k-- {
		f := &b.functions[nest[k]]
		start, end, _ := b.holds(f, addr)
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

// calledAt returns the place of a call that is inlined. If the line table has no such file (it may
// be file 0 of DWARF before version 5, or there may be no table), the call is in the file that the
// unit is named by, as GDB has it.
func (d *debugInfo) calledAt(u *unit, f *function) place {
	lines := d.linesOf(u)
	if file := lines.fileName(int(f.callFile)); file != "" {
		return place{file, f.line, lines.folder()}
	}
	return place{d.unitFile(u), f.line, d.text(u, u.head.dir)}
}

// show returns a function's name and whether it has arguments.
func (d *debugInfo) show(u *unit, f *function) *shown {
	if v := detail(&u.details, shownOf, f.at); v != nil {
		return v
	}
	own := subprogramEntry{subprogram: f.subprogram, d: d, u: u, off: f.at}
	n := own.named().with(d.namedAt(u, f.origin))
	v := &shown{name: n.symbol, args: ArgsNone}
	if n.arguments {
		v.args = ArgsSome
	}
	if n.symbol == "" {
		name := n.by.text()
		v.name = name
		if n.language != languageFlat && n.language != languageUnknown && name != "" {
			prefix := n.last.prefix()
			if n.language == languageCXX {
				if name = CanonicalName(name); !strings.Contains(name, "<") {
					name += d.templateTypes(u, f.at)
				}
			}
			if v.name = prefix + name; n.language == languageCXX && !f.inline {
				v.name = withParameters(v.name, d.parameters(u, f.at))
			}
		}
	}
	keepDetail(&u.details, shownOf, f.at, v, len(v.name))
	return v
}

// prefix returns "outer::inner::" for the scopes around the entry at an offset of u.
func (d *debugInfo) prefix(u *unit, off uint64) string {
	c := d.load(u)
	var names []string
	for i := c.scopeAround(u, off); i >= 0 && !c.scopes[i].none && len(names) < maxDepth; i = c.scopes[i].parent {
		x := &c.scopes[i]
		name := "(anonymous namespace)"
		if x.name.Class != dwarfdata.ClassNone {
			if name = d.text(u, x.name); u.head.language == languageCXX {
				name = CanonicalName(name)
			}
		}
		if names = append(names, name); x.alone {
			break
		}
	}
	var b strings.Builder
	for k := len(names) - 1; k >= 0; k-- {
		b.WriteString(names[k])
		b.WriteString("::")
	}
	return b.String()
}
