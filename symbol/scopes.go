package symbol

import (
	"debug/dwarf"
	"fmt"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/target"
)

// Scope is a function, a call that is inlined, or a block of statements.
type Scope struct {
	*Entry
	// Entries are the variables, parameters, types and call sites directly within the scope: all
	// entries but the scopes.
	Entries []*Entry
	// Others are the blocks and inlined calls directly within the scope that have no code at the
	// address; a block or call with code there is a scope of its own. The entries of a block that
	// has no code anywhere are in Entries.
	Others []*Entry
}

// Called reports whether the scope is an inlined call that is shown as a frame. Strict DWARF 2
// cannot say from which line it is called (DW_AT_call_file, DW_AT_call_line): like GDB, such a call
// counts as a block of the function around it.
func (s *Scope) Called() bool { return s.called() }

func (e *Entry) called() bool {
	return e.Tag == dwarf.TagInlinedSubroutine && e.Has(dwarf.AttrCallFile) && e.Has(dwarf.AttrCallLine)
}

// Scopes returns the scopes that have code at pc, an address in block: the function, then those
// within it, each within the one before. bias is what to add to the file's addresses. If no debug
// information describes the function, the list is empty.
func (s *Symbolizer) Scopes(modules *target.Modules, pc uint64) (list []Scope, bias uint64, err error) {
	m := modules.Find(pc)
	if m == nil {
		return nil, 0, nil
	}
	mod := s.tables(m).elf
	if mod.image == nil {
		return nil, 0, nil
	}
	x := mod.dwarf()
	if x == nil {
		return nil, 0, nil
	}
	addr := pc - mod.bias
	x.ask(func(d *debugInfo) {
		list, err = nil, nil
		at, ok := d.functionAt(addr)
		if !ok || at.u.head.assembler {
			return
		}
		r := Ref{of: x, off: at.entry()}
		if at.d != d {
			r.part, r.skeleton = inSplit, at.d.skeletonUnit.Entry
		}
		list, err = at.d.scopes(s, at.u, r, addr)
	})
	return list, mod.bias, err
}

// scopes reads the scopes that have code at addr, from the function at r on.
func (d *debugInfo) scopes(s *Symbolizer, u *unit, r Ref, addr uint64) (list []Scope, err error) {
	err = d.rawEntries(s, u, r, r.off, func(x *Entry) bool {
		list = append(list, Scope{Entry: x})
		return false
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	// A block without code of its own is as if it were not there: GDB has its entries in the block
	// around it.
	open, depths := []int{0}, []int{1} // of a scope's own entries
	var around map[int]bool            // scopes that have no code at addr, but may have blocks that do
	var tooMuch error
	entries := 0
	err = d.childEntries(u, list[0].Entry, func(x *Entry) (within bool) {
		at := open[len(open)-1]
		if entries++; entries > maxScopeEntries && tooMuch == nil {
			tooMuch = fmt.Errorf("the function at offset %#x has more than %d entries", r.off, maxScopeEntries)
		}
		if tooMuch != nil {
			x.next = u.End
			return false
		}
		switch x.Tag {
		case 0:
			if open = open[:len(open)-1]; around[at] && at == len(list)-1 && !slices.Contains(open, at) {
				list, depths = list[:at], depths[:at]
				delete(around, at)
			}
			return false
		case dwarf.TagLexDwarfBlock, dwarf.TagInlinedSubroutine, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock, dwarf.TagWithStmt:
			bounds := x.bounds()
			scope := at
			if bounds.low.Class != dwarfdata.ClassNone || bounds.ranges.Class != dwarfdata.ClassNone {
				list[at].Others = append(list[at].Others, x)
				holds, wrong := d.holds(u, &bounds, addr)
				if wrong == errTooMuch {
					tooMuch = wrong
				}
				if !holds {
					// Strict DWARF 2 has no ranges: of code in several parts, blocks within it may
					// have parts that it cannot tell. GDB has such a block around them.
					if u.Version > 2 || bounds.ranges.Class != dwarfdata.ClassNone || !x.children {
						return false
					}
					if around == nil {
						around = map[int]bool{}
					}
					around[len(list)] = true
				}
				list, depths = append(list, Scope{Entry: x}), append(depths, len(open)+1)
				scope = len(list) - 1
			} else if x.called() {
				list[at].Others = append(list[at].Others, x)
				return false
			} else if len(open) == depths[at] {
				list[at].Others = append(list[at].Others, x)
			}
			if x.children {
				open = append(open, scope)
			}
			return x.children
		case dwarf.TagSubprogram:
			return false
		}
		list[at].Entries = append(list[at].Entries, x)
		return false
	})
	if tooMuch == nil && err == errTooMuch {
		tooMuch = err
	}
	if tooMuch != nil {
		d.manyScopes.Do(func() { d.warn(fmt.Errorf("variables of some functions are left out: %w", tooMuch)) })
		return nil, tooMuch
	}
	return list, err
}

// maxScopeEntries bounds the entries of one function that are kept at once. Compilers make some ten
// thousand of the largest.
const maxScopeEntries = 1 << 17

// bounds returns the attributes that say where the code of e is.
func (e *Entry) bounds() (b entry) {
	b.low, _ = e.attr(dwarf.AttrLowpc)
	b.high, _ = e.attr(dwarf.AttrHighpc)
	b.ranges, _ = e.attr(dwarf.AttrRanges)
	return b
}

// holds reports whether the code of an entry of u holds a link-time address. The error is
// errTooMuch, or says what is broken.
func (d *debugInfo) holds(u *unit, e *entry, addr uint64) (bool, error) {
	e.asked = true
	ranges, err := d.appendRanges(nil, u, u.head, e)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(ranges, func(r [2]uint64) bool { return addr >= r[0] && addr < r[1] }), nil
}
