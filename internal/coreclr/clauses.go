package coreclr

import "github.com/sfwalk/sfwalk/target"

// A clause of a method says which handler runs for which code. It begins with flags, the code's
// offsets and the handler's; what a filter begins at stands behind. (EE_ILEXCEPTION_CLAUSE,
// CORCOMPILE_EXCEPTION_CLAUSE)
const (
	isFilter       = 1
	mostClauses    = 1 << 12
	clauseSize     = 32 // bytes: of compiled code
	filterAt       = 24
	broughtSize    = 24 // of code that was brought along
	broughtFilter  = 20
	beforeClauses  = 8 // bytes
	perMethod      = 8 // bytes of the table of methods that have clauses
	mostWithClause = 1 << 24
)

// IsFilter reports whether c is a filter of a method: it decides whether an exception is caught,
// and the frames that the exception comes from are still to run on.
func (r *Runtime) IsFilter(m target.Memory, c *Code) bool {
	if !c.IsHandler() {
		return false
	}
	begin := uint32(c.Base + uint64(c.Function.Begin) - c.Start)
	from, n, size, at := c.clauses+beforeClauses, uint64(0), uint64(clauseSize), filterAt
	if c.Brought {
		from, n = broughtClauses(m, c)
		size, at = broughtSize, broughtFilter
	} else if c.clauses != 0 {
		n = word(m, c.clauses-8)
	}
	for range min(n, mostClauses) {
		var b [clauseSize]byte
		if !read(m, from, b[:size]) {
			return false
		}
		if order.Uint32(b[:])&isFilter != 0 && order.Uint32(b[at:]) == begin {
			return true
		}
		from += size
	}
	return false
}

// broughtClauses returns the address of the clauses of code that an assembly has brought along, and
// how many there are.
func broughtClauses(m target.Memory, c *Code) (from, n uint64) {
	rva, size, _ := sectionOf(m, c, clauseSection)
	start := uint32(c.Start - c.Base)
	lo, hi := uint32(0), min(size/perMethod, mostWithClause)
	var b [2 * perMethod]byte
	for lo+1 < hi { // the last entry ends the table
		mid := (lo + hi) / 2
		if v, _ := half(m, c.Base+uint64(rva)+perMethod*uint64(mid)); v <= start {
			lo = mid
		} else {
			hi = mid
		}
	}
	if size < 2*perMethod || !read(m, c.Base+uint64(rva)+perMethod*uint64(lo), b[:]) || order.Uint32(b[:]) != start {
		return 0, 0
	}
	this, next := order.Uint32(b[4:]), order.Uint32(b[perMethod+4:])
	if next < this {
		return 0, 0
	}
	return c.Base + uint64(this), uint64(next-this) / broughtSize
}
