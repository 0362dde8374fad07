package breakpad

import "sort"

// Bounds returns the code of the function that holds addr: of a Func, or from the Public before addr to the next symbol
// (the last one's code goes on to the end of the address space). ok is false if the file has none.
func (f *File) Bounds(addr uint64) (r Range, ok bool) {
	if p, ok := f.funcs.find(addr); ok {
		return p.Range, true
	}
	p, ok := findPoint(f.publics, addr)
	if !ok || f.funcs.startsIn(p.key-1, addr) {
		return Range{}, false
	}
	end := -p.key - 1
	if i := sort.Search(len(f.publics), func(i int) bool { return f.publics[i].key > addr }); i < len(f.publics) {
		end = min(end, f.publics[i].key-p.key)
	}
	if i := sort.Search(len(f.funcs), func(i int) bool { return f.funcs[i].Address > addr }); i < len(f.funcs) {
		end = min(end, f.funcs[i].Address-p.key)
	}
	return Range{p.key, end}, true
}
