package symbol

import (
	"cmp"
	"debug/dwarf"
	"slices"
)

// callSite is a call in the code of a unit, DWARF 5 section 3.4. Addresses are link-time ones.
type callSite struct {
	pc       uint64 // behind the call; of a tail call that only has DW_AT_call_pc, of the jump
	jump     uint64 // an address within the call
	target   value  // refers to the entry of the function that is called; none if only the program knows that
	function int32  // index of the function that the code is in, which is not inlined
	tail     bool   // the call is a jump: the function that is called returns to the caller of this one
}

// callEntry holds the attributes of a call site's entry.
type callEntry struct {
	returns, at     value // address behind the call, address of the call
	origin, sibling value
	computed        bool // an expression says where the call goes
	tail            bool
}

// isCallSite reports whether entries of t describe calls. DWARF 5 took them over from GCC.
func isCallSite(t dwarf.Tag) bool {
	const gnuCallSite = 0x4109
	return t == dwarf.TagCallSite || t == gnuCallSite
}

// callEntry reads the attributes of a call site. GCC had them before DWARF 5, by other numbers and names:
// DW_AT_low_pc is the return address there, and DW_AT_abstract_origin the function.
func (c *entryCursor) callEntry(a *abbrev) (e callEntry) {
	const (
		gnuTarget   = 0x2113
		gnuTailCall = 0x2115
	)
	for i := range a.attrs {
		x := &a.attrs[i]
		v := c.value(x.form, x.implicit)
		switch x.attr {
		case dwarf.AttrCallReturnPC, dwarf.AttrLowpc:
			e.returns = v
		case dwarf.AttrCallPC:
			e.at = v
		case dwarf.AttrCallOrigin, dwarf.AttrAbstractOrigin:
			e.origin = v
		case dwarf.AttrCallTarget, gnuTarget:
			e.computed = true
		case dwarf.AttrCallTailCall, gnuTailCall:
			e.tail = v.n != 0
		case dwarf.AttrSibling:
			e.sibling = v
		}
	}
	return e
}

// addSite adds a call site in the function of an index to the unit. It leaves out one whose
// address is not known or no code.
func (d *debugInfo) addSite(u *unit, function int32, e *callEntry) {
	s := callSite{target: e.origin, function: function, tail: e.tail}
	if e.computed {
		s.target = value{}
	}
	var ok bool
	if s.pc, ok = d.address(u, u.head, e.returns); ok {
		s.jump = s.pc - 1
	} else if s.pc, ok = d.address(u, u.head, e.at); ok && e.tail { // LLVM does not say where a jump would return to
		s.jump = s.pc
	} else {
		return
	}
	if d.isCode(s.jump, s.jump+1) {
		u.sites = append(u.sites, s)
	}
}

// sortSites brings the call sites into the order in which they are looked up.
func (u *unit) sortSites() {
	byPC := func(a, b callSite) int { return cmp.Compare(a.pc, b.pc) }
	if !slices.IsSortedFunc(u.sites, byPC) {
		slices.SortStableFunc(u.sites, byPC)
	}
	for i := range u.sites {
		if u.sites[i].tail {
			u.jumps = append(u.jumps, int32(i))
		}
	}
	slices.SortStableFunc(u.jumps, func(a, b int32) int { return cmp.Compare(u.sites[a].function, u.sites[b].function) })
}

// site returns the call that returns to pc.
func (u *unit) site(pc uint64) (s callSite, ok bool) {
	i, ok := slices.BinarySearchFunc(u.sites, pc, func(s callSite, pc uint64) int { return cmp.Compare(s.pc, pc) })
	if !ok {
		return s, false
	}
	return u.sites[i], true
}

// jumpsOf returns the indexes of the call sites that are the tail calls of the function at index i.
func (u *unit) jumpsOf(i int32) []int32 {
	of := func(at, i int32) int { return cmp.Compare(u.sites[at].function, i) }
	first, _ := slices.BinarySearchFunc(u.jumps, i, of)
	behind, _ := slices.BinarySearchFunc(u.jumps, i+1, of)
	return u.jumps[first:behind]
}

// destination is where a call goes.
type destination struct {
	addr uint64 // nowhere if it is not known
	name string // of a symbol with that address, if addr is not known; "" if nothing is
}

// destination returns where a call in the unit goes. The entry that a call site refers to is a function
// with code; or a declaration, and then a symbol tells; or neither: all copies of a function are
// inlined, or the call goes to one of several.
func (d *debugInfo) destination(u *unit, s *callSite) (to destination) {
	to.addr = nowhere
	if !s.target.reference() {
		return to
	}
	x, of, unit := d.subprogramAt(u, s.target)
	if x == nil {
		return to
	}
	if to.addr = x.enters; to.addr != nowhere {
		return to
	}
	if name := x.symbol.Load(); name != nil {
		to.name = *name
		return to
	}
	to.name = of.declaredName(unit, x)
	x.symbol.Store(&to.name)
	return to
}

// declaredName returns the name of the symbol of a function that is only declared; "" for any other
// function. With optimization at link time, an entry may say no more than which one declares it.
func (d *debugInfo) declaredName(u *unit, x *subprogram) string {
	name, linkage, declared := "", "", false
	for hops := 0; x != nil && hops < maxOrigins; hops++ {
		if x.specified {
			return ""
		}
		declared = declared || x.declared
		if linkage == "" {
			linkage = d.text(u, x.linkage)
		}
		if name == "" && x.scope == 0 {
			name = d.text(u, x.name)
		}
		if !x.origin.reference() {
			break
		}
		x, d, u = d.subprogramAt(u, x.origin)
	}
	if !declared {
		return ""
	}
	return cmp.Or(linkage, name)
}

// allJumps reports whether the unit has all tail calls of a function. The function's entry says so, or
// one that it refers to.
func (d *debugInfo) allJumps(u *unit, x *subprogram) bool {
	for hops := 0; x != nil && hops < maxOrigins; hops++ {
		if x.allJumps {
			return true
		}
		if !x.origin.reference() {
			return false
		}
		x, d, u = d.subprogramAt(u, x.origin)
	}
	return false
}

// functionAt finds the function, not inlined, whose code has an address. of and u are the DWARF and the
// unit that describe it, i is its index there.
func (d *debugInfo) functionAt(addr uint64) (of *debugInfo, u *unit, i int32, ok bool) {
	d.eachUnit(addr, func(x *unit) bool {
		of, u = d, x
		if x.split != nil {
			of, u = x.split.info, x.split.unit
		}
		u.code.Find(addr, func(s span) bool {
			i, ok = s.Value, true
			return false
		})
		return !ok
	})
	return of, u, i, ok
}

// eachUnit calls yield with the units that have code at an address, the best first, until yield returns
// false. It reads the units.
func (d *debugInfo) eachUnit(addr uint64, yield func(*unit) bool) {
	var room [4]span
	list, units := d.candidates(addr, room[:0])
	for i := len(list) - 1; i >= 0; i-- {
		u := units[list[i].Value]
		if d.load(u); !yield(u) {
			return
		}
	}
	if len(list) > 0 {
		return
	}
	covered := false
	d.whole().Find(addr, func(r span) bool {
		u := d.units[r.Value]
		d.load(u)
		covered = true
		return yield(u)
	})
	if !covered {
		d.uncovered(addr, yield)
	}
}
