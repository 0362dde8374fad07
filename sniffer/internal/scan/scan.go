package scan

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer.
type Sniffer struct {
	// HasSymbols reports whether a module whose code cannot be read has symbols, so that an address
	// that they do not cover is no code. Nil says that none has.
	HasSymbols func(*target.Module) bool
}

func (*Sniffer) Name() string { return "scan" }

const (
	noStack  = frame.Answer("nothing tells where THIS is on the stack")
	nothing  = frame.Answer("none of the words of the stack is a return address behind a call")
	tooMuch  = frame.Answer("too much code without tables was looked at already")
	ended    = frame.Answer("the frame record at the frame pointer is the stack's last")
	noMemory = frame.Answer("the stack cannot be read")
)

// How many words are looked at: Breakpad's Stackwalker::ScanForReturnAddress looks at as many.
// Frame 0 may be anywhere in a function that has pushed arguments.
const (
	wordsOfCaller    = 40
	wordsOfInnermost = 160
)

// maxGap is the distance to a caller's frame record within which one counts, in bytes: as in
// Breakpad.
const maxGap = 128 << 10

// functionAlign is the alignment that compilers give functions, in bytes.
const functionAlign = 16

// A rank says how good a return address is.
type rank uint8

const (
	none    rank = iota
	other        // its call goes to another function; or it may as well be the address of a function
	untold       // it does not tell where its call goes
	confirm      // its call goes to the function of THIS
)

// found is a possible return address.
type found struct {
	rank rank
	at   uint64 // where it is
	ra   uint64
}

func (s *Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	sp, ok := innermost(q)
	switch {
	case !ok:
		return trad.Row{}, noStack
	case q.SearchSpent():
		return trad.Row{}, tooMuch
	}
	if endsRecords(q, sp) {
		return trad.Row{}, ended
	}
	words := wordsOfCaller
	if q.Innermost() {
		words = wordsOfInnermost
	}
	size := q.Arch.PtrSize
	stack := make([]byte, (words+1)*size)
	n, _ := q.Memory.ReadMemory(sp, stack)
	if n < size {
		return trad.Row{}, noMemory
	}
	stack = stack[:n]
	q.CountSearched(n / size)
	x := scanner{s: s, q: q}
	x.lo, x.hi, x.known = q.FunctionAt(q.AddressInBlock)
	if row, ok := x.link(sp, stack); ok {
		return row, frame.Claimed
	}
	best := found{}
	for off := 0; off+size <= len(stack) && best.rank < confirm; off += size {
		v := q.Arch.Word(stack[off:])
		f := found{at: sp + uint64(off), ra: q.Arch.CodeAddress(v)}
		if q.Arch.AddressMask&1 == 0 && v&3 == 2 {
			continue // Arm's: bit 0 says that the code is Thumb's, and other code is aligned to four bytes
		}
		if q.Arch.BackChainRA != 0 && !savedWithSP(q.Arch, stack[off:], f.at) {
			continue
		}
		if f.rank = x.rank(f.ra); f.rank > best.rank {
			best = f
		}
	}
	if best.rank == none {
		return trad.Row{}, nothing
	}
	return row(q, sp, best), frame.Claimed
}

// innermost returns the innermost address that THIS frame may have on the stack: SP, or the end of
// NEXT.
func innermost(q *frame.Query) (sp uint64, ok bool) {
	if v := q.This.Register(q.Arch.SP); v.Known() {
		return v.Bits, true
	}
	if next := q.This.Next(); next != nil && next.Level >= 0 {
		if cfa, ok := next.CFA(); ok {
			return cfa + uint64(q.Arch.SPFromCFA), true
		}
	}
	return 0, false
}

// endsRecords reports whether a frame record is at FP in which no other one follows: systems begin
// threads with zeros there. What lies further out is no caller's, such as the address at which the
// thread began.
func endsRecords(q *frame.Query, sp uint64) bool {
	a := q.Arch
	fp, size := q.This.Register(a.FP), a.PtrSize
	if a.FrameRecord == 0 || !fp.Known() || fp.Bits < sp || fp.Bits-sp > maxGap || size == 8 && q.Module != nil && q.Module.OpenPE != nil {
		return false
	}
	record := q.Read(fp.Bits, 2*size)
	return len(record) == 2*size && a.Word(record) == 0 && a.Word(record[size:]) == 0
}

// scanner ranks the words of one stack.
type scanner struct {
	s     *Sniffer
	q     *frame.Query
	lo    uint64 // the function of THIS is [lo, hi)
	hi    uint64
	known bool
}

// link makes a row of the link register of frame 0, if the processor has one, and it leads to
// another function: a call that THIS has made would have set it to an address in THIS. If it lies
// near on the stack, too, THIS has saved it there: on Arm, as the outermost register.
func (x *scanner) link(sp uint64, stack []byte) (trad.Row, bool) {
	q, a := x.q, x.q.Arch
	if a.RA == a.PC || !q.Innermost() || !x.known {
		return trad.Row{}, false
	}
	v := q.This.Register(a.RA)
	ra := a.CodeAddress(v.Bits)
	if !v.Known() || ra-1-x.lo < x.hi-x.lo || x.rank(ra) < untold {
		return trad.Row{}, false
	}
	if !a.FrameRecordAnywhere && a.BackChainRA == 0 {
		for off := 0; off+a.PtrSize <= min(len(stack), wordsOfCaller*a.PtrSize); off += a.PtrSize {
			if a.Word(stack[off:]) == v.Bits {
				return row(q, sp, found{untold, sp + uint64(off), ra}), true
			}
		}
	}
	return q.LinkRow(), true
}

func (x *scanner) rank(ra uint64) rank {
	q := x.q
	if ra == 0 || !q.Modules.IsCode(ra-1) {
		return none
	}
	switch follows, known := q.FollowsCall(ra); {
	case !known:
		return x.unread(ra)
	case !follows:
		return none
	}
	to, ok := q.CallTarget(ra)
	if !ok {
		return untold
	}
	lo, hi, ok := q.FunctionAt(to)
	switch {
	case !ok:
		return untold // a linkage stub, for example
	case lo <= q.AddressInBlock && q.AddressInBlock < hi && lo == to:
		return confirm
	case x.known && lo == x.lo:
		return untold // the symbol may be of another function before
	case q.Passes(to):
		return untold // nor does the code that the call goes to tell where it goes
	}
	return other
}

// unread ranks a return address whose code cannot be read.
func (x *scanner) unread(ra uint64) rank {
	m := x.q.Modules.Find(ra - 1)
	if m == nil {
		return none
	}
	if _, _, covered := x.q.FunctionAt(ra - 1); !covered && x.s.HasSymbols != nil && x.s.HasSymbols(m) {
		return none
	}
	if ra%functionAlign == 0 || x.q.FunctionBegins(ra) {
		return other // rather the address of a function, such as main's, with which libc calls it
	}
	return untold
}

// savedWithSP reports whether what is at an address, from the return address on, is what a function
// has stored that keeps both the return address and the caller's stack pointer, where the caller
// has left room for them.
func savedWithSP(a *arch.Arch, stack []byte, at uint64) bool {
	size := a.PtrSize
	return len(stack) >= 2*size && a.Word(stack[size:]) == at-uint64(int64(a.BackChainRA))+uint64(a.SPFromCFA)
}

// row returns the row that has the return address where it was found. SP is sp, if it is known.
func row(q *frame.Query, sp uint64, f found) trad.Row {
	a := q.Arch
	size := uint64(a.PtrSize)
	cfa := f.at + size
	if a.BackChainRA != 0 {
		cfa = f.at - uint64(int64(a.BackChainRA))
	}
	more := &trad.OtherRules{Exprs: []trad.Expression{trad.Constant(cfa), trad.Constant(f.at)}}
	r := trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Once | trad.Guess,
		CFA:    trad.Rule{Kind: trad.ValExpr, Off: 0},
		RA:     trad.Rule{Kind: trad.Expr, Off: 1},
		Others: more,
	}
	if q.This.Register(a.SP).Known() {
		r.CFA = trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: int32(cfa - sp)}
		r.RA = trad.Rule{Kind: trad.Saved, Off: int32(f.at - cfa)}
		more.Exprs = nil
	}
	if a.FrameRecordAnywhere {
		more.Regs = []trad.RegRule{{Reg: a.SP}} // the frame may go on behind the return address
	}
	fp := q.This.Register(a.FP)
	switch {
	case a.BackChainRA != 0:
	case fp.Known() && fp.Bits != f.at-size && fp.Bits >= cfa:
		r.FP.Kind = trad.Same
	case outward(q, f.at-size):
		r.FP = trad.Rule{Kind: trad.Saved, Off: int32(f.at - size - cfa)}
	}
	return r
}

// outward reports whether a frame record may begin at an address: the word there points to another
// one further out.
func outward(q *frame.Query, at uint64) bool {
	size := q.Arch.PtrSize
	p := q.Read(at, size)
	if len(p) < size {
		return false
	}
	saved := q.Arch.Word(p)
	return saved > at && saved-at <= maxGap && len(q.Read(saved, size)) == size
}
