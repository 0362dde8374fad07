package breakpad

// Bounds returns the code of the function that holds addr: of a Func, or from the Public before
// addr to the next symbol (the last one's code goes on to the end of the address space). ok is
// false if the file has none.
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

// WinBounds returns the addresses around addr for which [File.Win] returns the same record; at
// least addr.
func (f *File) WinBounds(addr uint64) Range {
	found, err := checked(f, func(t *tables) (*Range, error) {
		r := t.winBounds(addr)
		return &r, nil
	})
	if err != nil {
		return Range{addr, 1}
	}
	return *found
}

func (t *tables) winBounds(addr uint64) Range {
	in := &t.frameData
	p, ok := in.find(addr)
	if !ok {
		in = &t.fpo
		if p, ok = in.find(addr); !ok {
			return Range{addr, 1}
		}
	}
	lo, hi := p.Address, p.last()
	next := in.above(addr)
	if next < in.len() {
		hi = min(hi, in.at(next).Address-1)
	}
	if before := in.at(next - 1); before.Range != p.Range && before.last() >= lo { // one that ends before addr
		if outer := int(before.outer) - 1; outer < 0 || outer >= in.len() || in.at(outer).Range != p.Range {
			return Range{addr, 1} // several lie between
		}
		lo = before.last() + 1
	}
	if lo > addr || hi < addr {
		return Range{addr, 1} // of an index that lies
	}
	return Range{lo, hi - lo + 1}
}

// ParamSize returns how many bytes of arguments on the stack the function at addr takes, by its
// [StackWin], [Func] or [Public]; ok is false if the file does not say.
func (f *File) ParamSize(addr uint64) (size uint64, ok bool) {
	if w, err := f.Win(addr); err == nil && w != nil {
		return w.ParamSize, true
	}
	fn, err := checked(f, func(t *tables) (*Func, error) {
		p, ok := t.funcs.find(addr)
		if !ok {
			return nil, nil
		}
		return recordAt(f, t, p.offset, func(r *Func) bool { return r.Address == p.Address && r.Size == p.Size })
	})
	if fn != nil && err == nil {
		return fn.ParamSize, true
	}
	if public, err := f.Public(addr); err == nil && public != nil {
		return public.ParamSize, true
	}
	return 0, false
}
