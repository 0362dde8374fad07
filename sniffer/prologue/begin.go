package prologue

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	// scanned is how much of the stack is looked through for THIS function's call, in
	// bytes: GHC's run time reserves 16 KiB. Of the calls that may be it, maxCalls are tried
	// where the code must be followed, maxLookUps where there are tables.
	scanned    = 20 << 10
	maxCalls   = 8
	maxLookUps = 64
	// room is the least, in bytes, that a function reserves for code that it jumps to: old
	// return addresses lie nearer to the stack pointer.
	room = 1 << 10
	// alignment is how compilers align functions; maxStarts how many such places
	// before PC are tried.
	alignment = 16
	maxStarts = 64
	// maxFill is how much may lie between two functions, in bytes.
	maxFill = 64
	// after is how much of a function is read behind PC: loops come back from there.
	after = 2 << 10
	// candidate and lookUp are how many instructions it counts for that a call is looked at
	// which a word of the stack may be of, and the tables for where it leads.
	candidate = 4
	lookUp    = 64
)

// byCall finds the call of THIS function on the stack, or in the link register: it says
// where the function begins, and the function's code from there on must find the call
// just there.
//
// Else it finds the call of another function, whose frame has its return address there by
// its tables, and its stack pointer where THIS frame's is: it has jumped here, as GHC's
// run time does. That is a guess.
func (s *Sniffer) byCall(q *frame.Query) (row trad.Row, ok bool) {
	a := q.Arch
	if a.RA != a.PC && q.Innermost() {
		if v := q.This.Register(a.RA); v.Known() {
			ra := a.CodeAddress(v.Bits)
			if start, is := entered(q, ra); is {
				if row, ok = calledAt(q, start, ra, 0); ok {
					return row, true
				}
			}
		}
	}
	sp := q.This.Register(a.SP)
	if !sp.Known() {
		return row, false
	}
	stack := make([]byte, scanned)
	n, _ := q.Memory.ReadMemory(sp.Bits, stack)
	q.CountSearched(n / readTogether)
	tries, lookUps := 0, 0
	jumped := trad.Row{}
	for at := 0; at+a.PtrSize <= n; at += a.PtrSize {
		ra := a.CodeAddress(word(a, stack[at:]))
		if ra == 0 || !q.Modules.IsCode(ra-1) {
			continue
		}
		slot := sp.Bits + uint64(at)
		start, is := entered(q, ra)
		q.CountSearched(candidate)
		if is && tries < maxCalls {
			tries++
			if row, ok = calledAt(q, start, ra, slot); ok {
				return row, true
			}
		}
		if start != 0 && at >= room && jumped.Len == 0 && s.Rows != nil && lookUps < maxLookUps {
			lookUps++
			q.CountSearched(lookUp)
			jumped = s.jumpedFrom(q, start, ra, slot)
		}
	}
	return jumped, jumped.Len != 0
}

// jumpedFrom returns the row for THIS by which the function that begins at start has its
// return address ra in a slot of the stack, with its stack pointer where that of THIS is.
func (s *Sniffer) jumpedFrom(q *frame.Query, start, ra, slot uint64) trad.Row {
	a := q.Arch
	for row := range s.Rows(q, start) {
		if row.CFA.Kind != trad.InReg || row.CFA.Reg != a.SP || row.Flags != 0 {
			continue
		}
		if c, ok := q.Apply(&row); ok && c.PC.Bits == ra && c.PC.Lval == frame.InMemory && c.PC.Addr == slot {
			row.Lo, row.Len, row.Flags = q.PC, 1, trad.Guess
			return row
		}
	}
	return trad.Row{}
}

// calledAt returns the row that the code says from start on, if that finds the return
// address ra, in a slot of the stack unless slot is 0.
func calledAt(q *frame.Query, start, ra, slot uint64) (row trad.Row, ok bool) {
	row, ok = from(q, start)
	if !ok {
		return row, false
	}
	c, ok := q.Apply(&row)
	return row, ok && c.PC.Bits == ra && (slot == 0 || c.PC.Lval == frame.InMemory && c.PC.Addr == slot)
}

// byTables reads the function that begins where a table's last function before PC ends.
func (s *Sniffer) byTables(q *frame.Query) (row trad.Row, ok bool) {
	start := uint64(0)
	for _, before := range s.Before {
		if end, ok := before(q); ok {
			start = max(start, end)
		}
	}
	if start == 0 || q.AddressInBlock-start > maxFunction {
		return row, false
	}
	// Zeros and traps fill the space between functions where nothing else does.
	fill := q.Read(start, maxFill)
	if i := slices.IndexFunc(fill, func(b byte) bool { return b != 0 && b != 0xcc }); i > 0 {
		start = (start + uint64(i)) &^ 3 // an instruction may begin with a zero
	}
	if start > q.AddressInBlock {
		return row, false
	}
	if row, ok = from(q, start); !ok {
		return row, false
	}
	_, ra, ok := s.fits(q, &row)
	if entry, is := entered(q, ra); ok && is && entry != start {
		row.Flags |= trad.Guess // it was called elsewhere, as through a stub
	}
	return row, ok
}

// byAlignment tries the places before PC where a compiler would have a function begin,
// nearest first: THIS has made a frame from there on, and been called. It is a guess.
func (s *Sniffer) byAlignment(q *frame.Query) (row trad.Row, ok bool) {
	start := q.AddressInBlock &^ (alignment - 1)
	for range maxStarts {
		if !q.Modules.IsCode(start) {
			break
		}
		if row, ok = from(q, start); ok {
			if cfa, _, is := s.fits(q, &row); is && aligned(q, cfa) {
				row.Flags |= trad.Guess
				return row, true
			}
		}
		start -= alignment
	}
	return trad.Row{}, false
}

// from reads the function that begins at start, where the flow of control from there
// comes to PC. No more can be known of code that no table describes.
func from(q *frame.Query, start uint64) (row trad.Row, ok bool) {
	if !q.CountSearched(0) {
		return row, false
	}
	row, answer := readFrom(q, start, q.AddressInBlock+after, q.Arch.ReadReached)
	return row, answer == frame.Claimed && row.Flags&trad.Guess == 0
}

func word(a *arch.Arch, p []byte) uint64 {
	if a.PtrSize == 4 {
		return uint64(a.Order.Uint32(p))
	}
	return a.Order.Uint64(p)
}
