package prologue

import (
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	// scanned is how many bytes of the stack are searched for the return address of THIS: GHC's run
	// time reserves 16 KiB. maxCalls bounds the candidates that are tried by following the code,
	// maxLookUps the candidates that are tried by tables.
	scanned    = 20 << 10
	maxCalls   = 8
	maxLookUps = 64
	// room is the least number of bytes that a function reserves on the stack for code that it
	// jumps to. Return addresses nearer to the stack pointer are old ones.
	room = 1 << 10
	// alignment is how compilers align functions; maxStarts how many such places
	// before PC are tried.
	alignment = 16
	maxStarts = 64
	// maxFill is how many bytes may lie between two functions.
	maxFill = 64
	// after is how many bytes of a function are read behind PC: loops come back from there.
	after = 2 << 10
	// candidate is how many instructions of a search one word of the stack counts for: the code
	// before the address in it may be a call. lookUp is how many a look at the tables of the
	// function called counts for.
	candidate = 4
	lookUp    = 64
)

// byCall finds the return address of THIS on the stack, or in the link register. The call
// before it tells where the function begins. The function's code, read from there, must
// find the return address in the same place.
//
// Otherwise byCall finds the return address of another function that has jumped to THIS, as GHC's
// run time does. That function's tables, with the stack pointer of THIS, must find the return
// address in the same place. Such a row is a guess.
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
		ra := a.CodeAddress(a.Word(stack[at:]))
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

// jumpedFrom returns a row for THIS from the tables of the function that begins at start. With the
// stack pointer of THIS, the row finds the return address ra in memory at slot. The row's Len is 0
// if the tables have no such row.
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

// calledAt reads the function that begins at start, and returns the row at PC. ok is true if the
// row finds the return address ra, in memory at slot unless slot is 0.
func calledAt(q *frame.Query, start, ra, slot uint64) (row trad.Row, ok bool) {
	row, ok = from(q, start)
	if !ok {
		return row, false
	}
	c, ok := q.Apply(&row)
	return row, ok && c.PC.Bits == ra && (slot == 0 || c.PC.Lval == frame.InMemory && c.PC.Addr == slot)
}

// byTables takes the end of the tables' last function before PC for the beginning of THIS function,
// and reads the code from there.
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
	// Zeros or traps may fill the space between functions.
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
		row.Flags |= trad.Guess // the call went elsewhere, for example to a stub
	}
	return row, ok
}

// byAlignment tries the addresses before PC at which compilers begin functions, the nearest first.
// The code from there must lead to a return address that follows a call, and to an aligned CFA. But
// an address that is within an instruction of the code from one further back, which does so too, is
// the worse one: bytes of a number may be taken for instructions. The row is a guess.
func (s *Sniffer) byAlignment(q *frame.Query) (row trad.Row, ok bool) {
	start, at := q.AddressInBlock&^(alignment-1), uint64(0)
	for range maxStarts {
		if !q.Modules.IsCode(start) {
			break
		}
		if other, is := from(q, start); is {
			if cfa, _, is := s.fits(q, &other); is && aligned(q, cfa) {
				if ok && !splits(q, start, at) {
					break
				}
				row, at, ok = other, start, true
			}
		}
		start -= alignment
	}
	row.Flags |= trad.Guess
	return row, ok
}

// splits reports whether an address lies within an instruction of the code that begins at start.
func splits(q *frame.Query, start, at uint64) bool {
	var code [maxStarts*alignment + maxInstruction]byte
	n, _ := q.Memory.ReadMemory(start, code[:at-start+maxInstruction])
	row, steps, why := q.Arch.ReadReached(code[:n], start, at)
	q.CountSearched(steps + n/readOver)
	return why == "" && row.Lo < at
}

// from reads the function that begins at start. ok is false if the flow of control from there does
// not reach PC, or if the row is a guess.
func from(q *frame.Query, start uint64) (row trad.Row, ok bool) {
	if !q.CountSearched(0) {
		return row, false
	}
	row, answer := readFrom(q, start, q.AddressInBlock+after, q.Arch.ReadReached)
	return row, answer == frame.Claimed && row.Flags&trad.Guess == 0
}
