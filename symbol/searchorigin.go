package symbol

import (
	"debug/dwarf"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// origin returns where the variable that an entry without a name is has its name: at its abstract
// instance, which link-time optimization leaves in another unit, or at its declaration, within a
// class. to is the reference there. ok is false if that has another name than the one that is
// sought.
func (w *searchWalk) origin(to dwarfdata.Value) (d *debugInfo, u *unit, off uint64, ok bool) {
	d, u = w.d, w.u
	for range maxOrigins {
		if *w.Work--; *w.Work < 0 {
			return nil, nil, 0, false
		}
		if to.Class == dwarfdata.ClassSupReference {
			d = d.supplement()
		} else if to.Class != dwarfdata.ClassReference {
			return nil, nil, 0, false
		}
		if d == nil {
			return nil, nil, 0, false
		}
		if to.N < u.Entry || to.N >= u.End || to.Class == dwarfdata.ClassSupReference {
			if u = d.unitAt(to.N); u == nil {
				return nil, nil, 0, false
			}
			d.mu.Lock()
			if h, _ := d.header(u); h == nil {
				u.head = &header{}
			}
			d.mu.Unlock()
		}
		var at entry
		if err := d.eachEntry(u, to.N, func(uint64) {}, func(c *dwarfdata.Cursor, a *dwarfdata.Abbrev) { at = readEntry(c, a) }, func(uint64) (uint64, bool) { return 0, false }); err != nil {
			return nil, nil, 0, false
		}
		if at.name.Class != dwarfdata.ClassNone {
			return d, u, to.N, d.text(u, at.name) == w.Name
		}
		if to = at.origin; to.Class == dwarfdata.ClassNone {
			to = at.specification
		}
	}
	return nil, nil, 0, false
}

// scopeAround returns the namespaces and classes around the entry at off, "outer::inner::".
func (d *debugInfo) scopeAround(u *unit, off uint64) string {
	type level struct {
		scope string
		name  dwarfdata.Value
	}
	var around []level
	var at level
	var opens bool
	var sibling dwarfdata.Value
	var tag dwarf.Tag
	d.eachEntry(u, u.Entry, func(uint64) { tag = 0 }, func(c *dwarfdata.Cursor, a *dwarfdata.Abbrev) {
		e := readEntry(c, a)
		tag, opens, sibling, at = a.Tag, a.Children, e.sibling, level{name: e.name}
	}, func(end uint64) (next uint64, more bool) {
		switch {
		case end > off:
			return 0, false
		case tag == 0:
			if len(around) > 0 {
				around = around[:len(around)-1]
			}
			return end, len(around) > 0
		case !opens:
		case sibling.Class == dwarfdata.ClassReference && sibling.N > end && sibling.N <= off:
			return sibling.N, true
		case len(around) == maxDepth:
			return 0, false
		default:
			if isScope(tag) {
				at.scope = "(anonymous namespace)::"
				if at.name.Class != dwarfdata.ClassNone {
					at.scope = d.text(u, at.name) + "::"
				}
			}
			around = append(around, at)
		}
		return end, true
	})
	var b strings.Builder
	for _, l := range around {
		b.WriteString(l.scope)
	}
	if u.head.language == languageCXX || u.head.language == languageUnknown {
		return CanonicalName(b.String())
	}
	return b.String()
}
