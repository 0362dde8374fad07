package symbol

import (
	"cmp"
	"debug/dwarf"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// callSite is a call in the code of a function, DWARF 5 section 3.4. Addresses are link-time ones.
type callSite struct {
	pc     uint64          // behind the call; of a tail call that only has DW_AT_call_pc, of the jump
	jump   uint64          // an address within the call
	target dwarfdata.Value // refers to the entry of the function that is called; none if only the program knows that
	tail   bool            // the call is a jump: the function that is called returns to the caller of this one
}

// callEntry holds the attributes of a call site's entry.
type callEntry struct {
	returns, at     dwarfdata.Value // address behind the call, address of the call
	origin, sibling dwarfdata.Value
	computed        bool // an expression says where the call goes
	tail            bool
}

// isCallSite reports whether entries of t describe calls. DWARF 5 took them over from GCC.
func isCallSite(t dwarf.Tag) bool {
	return t == dwarf.TagCallSite || t == dwarfdata.TagGNUCallSite
}

// readCallEntry reads the attributes of a call site. GCC had them before DWARF 5, by other numbers
// and names: DW_AT_low_pc is the return address there, and DW_AT_abstract_origin the function.
func readCallEntry(c *dwarfdata.Cursor, a *dwarfdata.Abbrev) (e callEntry) {
	for i := range a.Attrs {
		x := &a.Attrs[i]
		v := c.Value(x.Form, x.Implicit)
		switch x.Attr {
		case dwarf.AttrCallReturnPC, dwarf.AttrLowpc:
			e.returns = v
		case dwarf.AttrCallPC:
			e.at = v
		case dwarf.AttrCallOrigin, dwarf.AttrAbstractOrigin:
			e.origin = v
		case dwarf.AttrCallTarget, dwarfdata.AttrGNUTarget:
			e.computed = true
		case dwarf.AttrCallTailCall, dwarfdata.AttrGNUTailCall:
			e.tail = v.N != 0
		case dwarf.AttrSibling:
			e.sibling = v
		}
	}
	return e
}

// newSite returns the call site of an entry. ok is false if its address is not known or no code.
func (d *debugInfo) newSite(u *unit, e *callEntry) (s callSite, ok bool) {
	s = callSite{target: e.origin, tail: e.tail}
	if e.computed {
		s.target = dwarfdata.Value{}
	}
	if s.pc, ok = d.address(u, u.head, e.returns); ok {
		s.jump = s.pc - 1
	} else if s.pc, ok = d.address(u, u.head, e.at); ok && e.tail { // LLVM does not say where a jump would return to
		s.jump = s.pc
	} else {
		return s, false
	}
	return s, d.isCode(s.jump, s.jump+1)
}

// sortSites brings the call sites into the order in which they are looked up.
func (b *body) sortSites() {
	byPC := func(x, y callSite) int { return cmp.Compare(x.pc, y.pc) }
	if !slices.IsSortedFunc(b.sites, byPC) {
		slices.SortStableFunc(b.sites, byPC)
	}
	for i := range b.sites {
		if b.sites[i].tail {
			b.jumps = append(b.jumps, int32(i))
		}
	}
}

// site returns the call that returns to pc.
func (b *body) site(pc uint64) (s callSite, ok bool) {
	i, ok := slices.BinarySearchFunc(b.sites, pc, func(s callSite, pc uint64) int { return cmp.Compare(s.pc, pc) })
	if !ok {
		return s, false
	}
	return b.sites[i], true
}

// destination is where a call goes.
type destination struct {
	addr uint64 // nowhere if it is not known
	name string // of a symbol with that address, if addr is not known; "" if nothing is
}

// destination returns where a call in the unit goes. The entry that a call site refers to is a
// function with code; or a declaration, and then a symbol tells; or neither: all copies of a
// function are inlined, or the call goes to one of several.
func (d *debugInfo) destination(u *unit, s *callSite) (to destination) {
	to.addr = nowhere
	if !s.target.Reference() {
		return to
	}
	in, of := d.unitFor(u, s.target)
	if of == nil {
		return to
	}
	x, ok := in.subprogramAt(of, s.target.N, wantCode)
	if !ok {
		return to
	}
	if to.addr = x.enters; to.addr == nowhere {
		to.name = x.declaredName()
	}
	return to
}

// declaredName returns the name of the symbol of a function that is only declared; "" for any other
// function. With optimization at link time, an entry may say no more than which one declares it.
func (x *subprogramEntry) declaredName() string {
	name, linkage, declared := "", "", false
	for hops := 0; hops < maxOrigins; hops++ {
		if x.specified {
			return ""
		}
		declared = declared || x.declared
		if linkage == "" {
			linkage = x.d.text(x.u, x.linkage)
		}
		if name == "" && x.scoped() < 0 {
			name = x.d.text(x.u, x.name)
		}
		next, ok := x.next(wantName)
		if !ok {
			break
		}
		x = &next
	}
	if !declared {
		return ""
	}
	return cmp.Or(linkage, name)
}

// allJumps reports whether the debug information has all tail calls of a function. The function's
// entry says so, or one that it refers to.
func (d *debugInfo) allJumps(u *unit, f *function) bool {
	x := subprogramEntry{subprogram: f.subprogram, d: d, u: u, off: f.at}
	for hops, ok := 0, true; ok && hops < maxOrigins; hops++ {
		if x.allJumps {
			return true
		}
		x, ok = x.next(wantName)
	}
	return false
}

// codeAt is the function, not inlined, whose code has an address.
type codeAt struct {
	d *debugInfo // that describes it
	u *unit
	c *contents
	i int32 // its index in the contents
}

// entry returns the offset of the function's entry.
func (at *codeAt) entry() uint64 { return at.u.Start + uint64(at.c.functions[at.i].start) }

// body returns what is within the function; nil if its entry cannot be read.
func (at *codeAt) body() *body {
	b := at.d.body(at.u, at.c, at.i)
	if len(b.functions) == 0 {
		return nil
	}
	return b
}

// functionAt finds the function, not inlined, whose code has an address.
func (d *debugInfo) functionAt(addr uint64) (at codeAt, ok bool) {
	d.eachUnit(addr, func(u *unit) bool {
		at = d.described(u)
		at.c.code.Find(addr, func(s span) bool {
			at.i, ok = s.Value, true
			return false
		})
		return !ok
	})
	return at, ok
}

// described returns the contents of a unit, or of the rest of a unit that is split.
func (d *debugInfo) described(u *unit) codeAt {
	if d.open(u); u.split != nil {
		d, u = u.split.info, u.split.unit
	}
	return codeAt{d: d, u: u, c: d.load(u)}
}

// eachUnit calls yield with the units that have code at an address, the best first, until yield
// returns false. It opens the units.
func (d *debugInfo) eachUnit(addr uint64, yield func(*unit) bool) {
	var room [4]span
	list, units := d.candidates(addr, room[:0])
	for i := len(list) - 1; i >= 0; i-- {
		u := units[list[i].Value]
		if d.open(u); !yield(u) {
			return
		}
	}
	if len(list) > 0 {
		return
	}
	covered := false
	d.whole().Find(addr, func(r span) bool {
		covered = true
		d.open(d.units[r.Value])
		return yield(d.units[r.Value])
	})
	if !covered {
		d.uncovered(addr, yield)
	}
}
