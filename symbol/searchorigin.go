package symbol

import (
	"debug/dwarf"
	"strings"
)

// origin returns where the variable that an entry without a name is has its name: at its abstract instance, which link-time optimization
// leaves in another unit, or at its declaration, within a class. to is the reference there. ok is false if that has another name than the
// one that is sought.
func (w *searchWalk) origin(to value) (d *debugInfo, u *unit, off uint64, ok bool) {
	d, u = w.d, w.u
	for range maxOrigins {
		if *w.Work--; *w.Work < 0 {
			return nil, nil, 0, false
		}
		if to.class == classSupReference {
			d = d.supplement()
		} else if to.class != classReference {
			return nil, nil, 0, false
		}
		if d == nil {
			return nil, nil, 0, false
		}
		if to.n < u.entry || to.n >= u.end || to.class == classSupReference {
			if u = d.unitAt(to.n); u == nil {
				return nil, nil, 0, false
			}
			d.mu.Lock()
			if h, _ := d.header(u); h == nil {
				u.head = &header{}
			}
			d.mu.Unlock()
		}
		var at entry
		if err := d.eachEntry(u, to.n, func(uint64) {}, func(c *entryCursor, a *abbrev) { at = c.entry(a) }, func(uint64) (uint64, bool) { return 0, false }); err != nil {
			return nil, nil, 0, false
		}
		if at.name.class != classNone {
			return d, u, to.n, d.text(u, at.name) == w.Name
		}
		if to = at.origin; to.class == classNone {
			to = at.specification
		}
	}
	return nil, nil, 0, false
}

// scopeAround returns the namespaces and classes around the entry at off, "outer::inner::".
func (d *debugInfo) scopeAround(u *unit, off uint64) string {
	type level struct {
		scope string
		name  value
	}
	var around []level
	var at level
	var opens bool
	var sibling value
	var tag dwarf.Tag
	d.eachEntry(u, u.entry, func(uint64) { tag = 0 }, func(c *entryCursor, a *abbrev) {
		e := c.entry(a)
		tag, opens, sibling, at = a.tag, a.children, e.sibling, level{name: e.name}
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
		case sibling.class == classReference && sibling.n > end && sibling.n <= off:
			return sibling.n, true
		case len(around) == maxDepth:
			return 0, false
		default:
			if isScope(tag) {
				at.scope = "(anonymous namespace)::"
				if at.name.class != classNone {
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
