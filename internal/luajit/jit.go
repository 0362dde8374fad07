package luajit

// Compiler is the compiler of one global_State.
type Compiler struct {
	r  Reader
	at uint64 // where it has the address of its table of traces

	Global uint64
	table  uint64
	traces uint64 // how many the table has at most
}

// Where a global_State is followed by the compiler's table, bytes: releases differ.
const (
	firstTable = 1080
	lastTable  = 1160
)

const (
	mostTraces = 1 << 16
	mostAreas  = 1 << 12
	pageSize   = 4096
	looked     = 16 // traces of a table that are checked
)

// CompilerOf returns the compiler of a global_State. ok is false if it has compiled nothing, or is
// not known.
func CompilerOf(r Reader, global uint64) (c Compiler, ok bool) {
	for at := global + firstTable; at <= global+lastTable; at += 8 {
		c = Compiler{r: r, at: at, Global: global, table: pointer(r, at), traces: r.Uint(at+jitTraces, 4)}
		area, size := pointer(r, at+jitArea), pointer(r, at+jitAreaSize)
		if !IsAddress(c.table) || c.traces == 0 || c.traces > mostTraces || area == 0 || area%pageSize != 0 || size == 0 || size%pageSize != 0 {
			continue
		}
		fits := true
		for n := uint64(1); n < min(c.traces, looked) && fits; n++ {
			_, is := c.Trace(n)
			fits = is || pointer(r, c.table+8*n) == 0
		}
		if fits {
			return c, true
		}
	}
	return Compiler{}, false
}

// Has reports whether an address is in memory for compiled code.
func (c *Compiler) Has(pc uint64) bool {
	area, size := pointer(c.r, c.at+jitArea), pointer(c.r, c.at+jitAreaSize)
	for range mostAreas {
		if area == 0 || size == 0 {
			return false
		}
		if pc-area < size {
			return true
		}
		// Each area begins with the address of the one before. Its own size stands behind it.
		next := pointer(c.r, area)
		if next == 0 {
			return false
		}
		area, size = next, pointer(c.r, next+8)
	}
	return false
}

// Trace is a piece of compiled code: a loop, a function, or what follows a way out of another
// trace.
type Trace struct {
	r        Reader
	At       uint64
	Number   uint64
	Lo, Hi   uint64 // its code
	StartsAt uint64 // the address of the instruction of Lua where it begins
}

// Trace returns the trace that has a number.
func (c *Compiler) Trace(number uint64) (t Trace, ok bool) {
	if number == 0 || number >= c.traces {
		return t, false
	}
	t, ok = TraceAt(c.r, pointer(c.r, c.table+8*number))
	return t, ok && t.Number == number
}

// TraceAt returns the trace whose record is at an address.
func TraceAt(r Reader, at uint64) (t Trace, ok bool) {
	if !IsAddress(at) || r.Uint(at+StateType, 1) != TypeTrace {
		return t, false
	}
	t = Trace{r: r, At: at, Number: r.Uint(at+TraceNumber, 2), Lo: pointer(r, at+traceCode), StartsAt: pointer(r, at+TraceStart)}
	t.Hi = t.Lo + r.Uint(at+traceSize, 4)
	return t, true
}

// Find returns the trace whose code has an address. The one that runs, as the machine notes it, is
// looked at first.
func (c *Compiler) Find(pc uint64) (t Trace, ok bool) {
	has := func(number uint64) bool {
		t, ok = c.Trace(number)
		ok = ok && pc-t.Lo < t.Hi-t.Lo
		return ok
	}
	if has(c.r.Uint(c.Global+GlobalVMState, 4)) {
		return t, true
	}
	for number := uint64(1); number < c.traces; number++ {
		if has(number) {
			return t, true
		}
	}
	return Trace{}, false
}

// Left returns the trace that was left last, and by which of its ways out.
func (c *Compiler) Left() (t Trace, exit uint64, ok bool) {
	t, ok = c.Trace(c.r.Uint(c.at+jitParent, 4))
	return t, c.r.Uint(c.at+jitExit, 4), ok
}

// ExitAt returns by which of its ways out a trace would be left at an address of its code: the last
// one that is noted for code up to there. unit is in what code is counted, bytes.
func (t *Trace) ExitAt(pc, unit uint64) uint64 {
	at, n := pointer(t.r, t.At+TraceSnap), t.Exits()
	lo, hi := uint64(0), n
	for lo < hi {
		mid := (lo + hi) / 2
		if pc-t.Lo < t.r.Uint(at+mid*Snap+snapCode, 2)*unit {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return max(lo, 1) - 1
}

// From returns the address from which on a way out is the one of the trace's code.
func (t *Trace) From(exit, unit uint64) uint64 {
	return t.Lo + t.r.Uint(pointer(t.r, t.At+TraceSnap)+exit*Snap+snapCode, 2)*unit
}

// Exits returns how many ways out the trace has.
func (t *Trace) Exits() uint64 { return t.r.Uint(t.At+TraceSnaps, 2) }

// Link returns the number of the trace to which the trace's end leads; 0 if that leads to none.
func (t *Trace) Link() uint64 { return t.r.Uint(t.At+traceLink, 2) }

// Slot is one slot of the stack of Lua as a trace has it at a way out, beside the ones that are in
// memory.
type Slot struct {
	Index   uint64 // from two before the slots of the function in which the trace has begun
	Link    bool   // it is the link of a frame
	Value   uint64
	Known   bool // Value is known: it is a constant
	Written bool // else the slot in memory has it
}

// Exit is a way out of a trace.
type Exit struct {
	PC    uint64 // the address of the instruction of Lua with which the interpreter goes on
	Base  uint64 // the slots of the innermost function, from the ones where the trace has begun on: bytes
	Slots []Slot
}

// Exit returns a way out of a trace. ok is false if the trace has none of this number.
func (t *Trace) Exit(number uint64) (e Exit, ok bool) {
	if number >= t.Exits() {
		return e, false
	}
	at := pointer(t.r, t.At+TraceSnap) + number*Snap
	first, n := t.r.Uint(at, 4), t.r.Uint(at+snapEntries, 1)
	if first+n+2 > t.r.Uint(t.At+traceEntries, 4) {
		return e, false
	}
	entries := pointer(t.r, t.At+TraceMap) + 4*first
	end := pointer(t.r, entries+4*n)
	e.PC, e.Base = end>>8, end&0xff*8
	ir, lowest := pointer(t.r, t.At+TraceIR), t.r.Uint(t.At+traceLowest, 4)
	for i := range n {
		entry := t.r.Uint(entries+4*i, 4)
		s := Slot{Index: entry >> 24, Link: entry&snapFrame != 0, Written: entry&snapNoRestore == 0}
		if ref := entry & 0xffff; ref >= lowest {
			switch in := ir + ref*irSize; t.r.Uint(in+5, 1) {
			case irNumber, irObject:
				s.Value, s.Known = pointer(t.r, in+irSize), true
			}
		}
		e.Slots = append(e.Slots, s)
	}
	return e, true
}
