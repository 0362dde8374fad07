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

// CodeAt returns what debug information says of the function whose code is at an address, as a
// table of virtual functions has it, or an object that a printer knows by the function that manages
// it.
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
