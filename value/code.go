package value

// Code is what debug information says of the function whose code is at an address, in no frame of
// it.
type Code struct {
	// Linkage is the linker's name of the function; "" if it has none.
	Linkage string
	// Variables are the arguments and the variables of its outermost block: their names and types.
	Variables []Variable

	unit *Type
}

// CodeAt returns what debug information says of the function whose code is at an address. Call it
// for an address of code that an object has: in a table of virtual functions, or for the function
// that manages a std::any. ok is false if nothing is known.
func (r *Reader) CodeAt(pc uint64) (c Code, ok bool) {
	scopes, _, err := r.Symbols.Scopes(r.Modules, pc)
	if err != nil || len(scopes) == 0 {
		return c, false
	}
	for e := range r.described(scopes[0].Entry) {
		if c.Linkage = linkageName(e); c.Linkage != "" {
			break
		}
	}
	c.Variables = r.block(&scopes[0], 0)
	c.unit = &Type{r: r, entry: scopes[0].Entry}
	return c, true
}

// TypeNamed is [Reader.TypeNamed] near the function.
func (c *Code) TypeNamed(name string) *Type { return c.unit.r.TypeNamed(name, c.unit) }
