package frame

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer inspects THIS frame, and claims it or declines.
// Implementations must be safe for concurrent use.
type Sniffer interface {
	// Name returns the name by which users know the sniffer, such as "sframe".
	Name() string
	// Sniff returns a row that unwinds the frame at q.PC, with [Claimed], or says why it does
	// not know one. The row must hold for every frame at a PC in the row's range, unless it
	// has trad.Once: then it holds for THIS frame alone. Sniff must not keep q.
	Sniff(q *Query) (trad.Row, Answer)
}

// Answer is Claimed, SignalFrame, or a constant sentence that says why a sniffer declines.
type Answer string

const (
	// Claimed says that the row that comes with it unwinds the frame.
	Claimed Answer = ""
	// SignalFrame says that THIS is a signal frame by the sniffer's table, but the table does
	// not say how to unwind it. Then a later sniffer's row counts only if it is a signal frame's.
	// If there is none, each [SignalSniffer] is asked.
	SignalFrame Answer = "a signal frame, whose rules are not given"
)

// Query is what a sniffer is asked.
type Query struct {
	PC             uint64          // THIS frame's PC
	AddressInBlock uint64          // the address to look up in tables: PC, or PC-1 for a caller
	Module         *target.Module  // at AddressInBlock; nil if there is none
	Modules        *target.Modules // of the target
	Arch           *arch.Arch
	Memory         target.Memory // of THIS frame's thread
	// This is THIS frame, with all its registers. For a Walker, registers other than PC, SP and FP,
	// and RA in a frame that was interrupted, take longer: they need the inner frames.
	This *Frame

	fresh      bool      // THIS was not searched for before: see MaySearch
	coded      bool      // buffer.code was read for THIS
	searchLeft int       // how many instructions may still be read for THIS
	rows       *rowCache // of the table that asks, for SearchedInVain
	buffer     *readBuffer
}

// readBuffer is where a Query reads to. A buffer of its own for each read would be allocated, since
// Memory is an interface.
type readBuffer struct {
	read [maxRead]byte // for Read

	code     [CodeBefore + CodeBehind]byte // for Code
	pc       uint64                        // around which code is
	at, size int
}

// maxRead is the most that [Query.Read] reads.
const maxRead = 256

// Number of bytes that [Query.Code] reads.
const (
	CodeBefore = 24 // before PC: the longest thunk up to its return
	CodeBehind = 48 // from PC on
)

// Read returns the target's memory at addr: n bytes (256 at most), or as many from the first
// on as can be read. The slice is valid until the next Read, and until a
// register of This is asked for.
func (q *Query) Read(addr uint64, n int) []byte {
	n, _ = q.Memory.ReadMemory(addr, q.buffer.read[:n])
	return q.buffer.read[:n]
}

// Word reads one word of the target's pointer size. ok is false if it cannot be read.
func (q *Query) Word(addr uint64) (v uint64, ok bool) {
	p := q.Read(addr, q.Arch.PtrSize)
	if len(p) < q.Arch.PtrSize {
		return 0, false
	}
	return q.Arch.Word(p), true
}

// Code returns the code around PC, from PC-CodeBefore to PC+CodeBehind, as much of it as can be
// read. code[at:] is the code from PC on. It is read once for all sniffers. The caller must not
// change it; it is valid until a register of This is asked for.
func (q *Query) Code() (code []byte, at int) {
	r := q.buffer
	if !q.coded || r.pc != q.PC {
		q.coded, r.pc, r.at, r.size = true, q.PC, CodeBefore, 0
		if q.PC >= CodeBefore {
			r.size, _ = q.Memory.ReadMemory(q.PC-CodeBefore, r.code[:])
		}
		if r.size <= CodeBefore { // perhaps only the code before PC is not there
			r.at = 0
			r.size, _ = q.Memory.ReadMemory(q.PC, r.code[:CodeBehind])
		}
	}
	return r.code[:r.size], r.at
}

// FunctionBegins reports whether a function begins at pc, by symbols or tables.
func (q *Query) FunctionBegins(pc uint64) bool {
	lo, _, ok := q.function(pc)
	return ok && lo == pc
}

// FunctionAt returns the code [lo, hi) of the function that holds addr, by symbols or tables.
func (q *Query) FunctionAt(addr uint64) (lo, hi uint64, ok bool) { return q.function(addr) }

// AppliedRow is a row applied to THIS: the CFA, and PC and FP of PREVIOUS.
type AppliedRow struct {
	CFA uint64 // of THIS
	PC  Value  // without bits that are not part of the address
	FP  Value
}

// Apply applies a row to THIS. ok is false if the row does not give a CFA and a return
// address, or This is nil.
func (q *Query) Apply(row *trad.Row) (c AppliedRow, ok bool) {
	f := q.This
	if f == nil {
		return c, false
	}
	cfa, err := f.cfaBy(row)
	if err != nil {
		return c, false
	}
	a := f.stack.arch
	c = AppliedRow{cfa, f.ruleValue(row, row.RA, a.RA, cfa), f.ruleValue(row, row.FP, a.FP, cfa)}
	c.PC.Bits = a.CodeAddress(c.PC.Bits)
	return c, c.PC.Known()
}

// ruleValue returns the value that a rule of a row, which gives THIS a CFA, gives to register r of
// PREVIOUS.
func (f *Frame) ruleValue(row *trad.Row, rule trad.Rule, r trad.Reg, cfa uint64) Value {
	p, err := row.Place(rule, r, (*env)(f), cfa)
	switch {
	case err != nil:
		return Value{Err: err}
	case p.Kind == trad.InMemory:
		return f.wordAt(p.Addr)
	case p.Kind == trad.InThis && r == f.stack.arch.FP && p.Reg == r:
		return f.fp
	case p.Kind == trad.InThis:
		return f.Register(p.Reg)
	case p.Kind == trad.IsValue:
		return Value{Bits: p.Addr, Lval: Computed}
	}
	return Value{}
}

// SearchedInVain reports whether searches for several frames at THIS frame's PC have found nothing
// (see [Query.NoteSearchedInVain]). Then a sniffer need not search again.
func (q *Query) SearchedInVain() bool {
	if q.rows != nil && q.rows.shared != nil {
		return q.rows.shared.searchedInVain(q.rows.generation, searched{q.PC, !q.Innermost()}, 0)
	}
	if q.rows == nil || q.rows.inVain == nil {
		return false
	}
	slot := &q.rows.inVain[q.PC%vainSlots]
	return slot.frames >= vainFrames && slot.pc == q.PC && slot.block == q.AddressInBlock && slot.epoch == q.rows.epoch
}

// NoteSearchedInVain notes that a long search of the code at PC has found nothing. Call it after
// such a search: after several, [Query.SearchedInVain] tells the sniffer to leave out the search
// for other frames at PC. The table forgets the note when it forgets its rows: when the target has
// run, or its modules have changed.
func (q *Query) NoteSearchedInVain() {
	if q.rows == nil {
		return
	}
	if q.rows.shared != nil {
		q.rows.shared.searchedInVain(q.rows.generation, searched{q.PC, !q.Innermost()}, 1)
		return
	}
	if q.rows.inVain == nil {
		q.rows.inVain = new([vainSlots]vainSlot)
	}
	slot := &q.rows.inVain[q.PC%vainSlots]
	if slot.pc != q.PC || slot.block != q.AddressInBlock || slot.epoch != q.rows.epoch {
		*slot = vainSlot{pc: q.PC, block: q.AddressInBlock, epoch: q.rows.epoch}
	}
	slot.frames++
}

// Innermost reports whether THIS does not wait for a call to return: it is frame 0, or was
// interrupted by a signal, for example. Then its PC is looked up as it is.
func (q *Query) Innermost() bool { return q.PC == q.AddressInBlock }

// An ArchSniffer is a Sniffer that is of use for some architectures alone.
type ArchSniffer interface {
	Sniffer
	// Serves reports whether the sniffer may claim frames of code of an architecture.
	Serves(a *arch.Arch) bool
}

// A FunctionSniffer is a Sniffer whose tables tell where a function begins. IDs use that
// for functions without a symbol.
type FunctionSniffer interface {
	Sniffer
	// FunctionStart returns the run-time address of the beginning of the function
	// that q.AddressInBlock is in.
	FunctionStart(q *Query) (addr uint64, ok bool)
}

// A BoundsSniffer is a FunctionSniffer whose tables tell where a function ends, too.
type BoundsSniffer interface {
	FunctionSniffer
	// FunctionBounds returns the run-time range of the function that q.AddressInBlock is in.
	FunctionBounds(q *Query) (lo, hi uint64, ok bool)
}

// A SpecialSniffer is a Sniffer that knows the special address of frames that it has claimed: IDs
// have it, so that frames with equal stack and code addresses differ.
type SpecialSniffer interface {
	Sniffer
	// SpecialAddress returns the special address of q.This; ok is false if it has none.
	SpecialAddress(q *Query) (addr uint64, ok bool)
}

// A PreservedSniffer is a Sniffer that can tell more of one frame that it has claimed than a row
// can, which is true for every frame at a PC.
type PreservedSniffer interface {
	Sniffer
	// PreservedRegisters returns the registers that THIS has not changed, although the ABI lets it
	// change them. ra is THIS frame's return address.
	PreservedRegisters(q *Query, ra uint64) arch.RegSet
}

// A CachingSniffer is a Sniffer that keeps facts about a target's memory, which may be wrong when
// the target has run.
type CachingSniffer interface {
	Sniffer
	// Forget drops these facts. [Table.Forget] calls it when the target has run.
	Forget()
}

// BaseSniffer gives addresses within a frame, which a debugger needs and an unwinder does
// not (GDB's struct frame_base).
type BaseSniffer interface {
	Name() string
	// SniffBase reports whether this sniffer knows the frame.
	SniffBase(this *Frame) bool
	ThisBase(this *Frame) (uint64, error)   // the frame's base: its innermost address on a falling stack
	ThisLocals(this *Frame) (uint64, error) // base address of the local variables
	ThisArgs(this *Frame) (uint64, error)   // base address of the arguments
}
