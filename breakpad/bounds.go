package breakpad

// Bounds returns the code of the function that holds addr: of a Func, or from the Public before addr to the next symbol
// (the last one's code goes on to the end of the address space). ok is false if the file has none.
func (f *File) Bounds(addr uint64) (r Range, ok bool) {
	found, _ := checked(f, func(t *tables) (*Range, error) {
		if r, ok := t.bounds(addr); ok {
			return &r, nil
		}
		return nil, nil
	})
	if found == nil {
		return Range{}, false
	}
	return *found, true
}

func (t *tables) bounds(addr uint64) (r Range, ok bool) {
	if p, ok := t.funcs.find(addr); ok {
		return p.Range, true
	}
	p, ok := t.publics.find(addr)
	if !ok || t.funcs.startsIn(p.key-1, addr) {
		return Range{}, false
	}
	end := -p.key - 1
	if i := t.publics.above(addr); i < t.publics.len() {
		end = min(end, t.publics.at(i).key-p.key)
	}
	if i := t.funcs.above(addr); i < t.funcs.len() {
		end = min(end, t.funcs.at(i).Address-p.key)
	}
	return Range{p.key, end}, true
}
