package fromelf

import (
	"cmp"
	"math"
	"slices"
)

// codeRange is a part of a function's code.
type codeRange struct {
	addr, size uint64
	function   int32
}

// assign gives each function the lines of its code. A line that goes beyond a function's code is
// cut.
func (r *reader) assign() {
	r.code = r.code[:0]
	for i := range r.functions {
		f := &r.functions[i]
		for _, x := range r.ranges[f.ranges:f.ranges2] {
			if x.Size > 0 {
				r.code = append(r.code, codeRange{x.Address, x.Size, int32(i)})
			}
		}
	}
	slices.SortStableFunc(r.code, func(a, b codeRange) int { return cmp.Compare(a.addr, b.addr) })
	byAddress := func(a, b row) int { return cmp.Compare(a.addr, b.addr) }
	if !slices.IsSortedFunc(r.rows, byAddress) {
		slices.SortStableFunc(r.rows, byAddress)
	}
	code, rows := r.code, r.rows
	if len(code) == 0 || len(rows) == 0 {
		return
	}
	within := func(start, size, addr uint64) bool { return addr-start < size }
	at := min(code[0].addr, rows[0].addr)
	// Each step goes from one address at which code or a line begins or ends to the next.
	for len(code) > 0 && len(rows) > 0 {
		f, l := code[0], rows[0]
		inCode, inLine := at >= f.addr, at >= l.addr
		var next uint64
		switch {
		case inCode && inLine:
			next = at + min(f.size-(at-f.addr), l.size-(at-l.addr))
			fn := &r.functions[f.function]
			fn.rows = append(fn.rows, row{at, next - at, l.file, l.line})
		case inCode:
			next = f.addr + f.size
			if within(f.addr, f.size, l.addr) {
				next = l.addr
			}
		case inLine:
			next = l.addr + l.size
			if within(l.addr, l.size, f.addr) {
				next = f.addr
			}
		default:
			next = min(f.addr, l.addr)
		}
		if next <= at || next == math.MaxUint64 {
			return
		}
		for len(code) > 0 && next >= code[0].addr && !within(code[0].addr, code[0].size, next) {
			code = code[1:]
		}
		for len(rows) > 0 && next >= rows[0].addr && !within(rows[0].addr, rows[0].size, next) {
			rows = rows[1:]
		}
		at = next
	}
}
