package gopclntab

import "sort"

// Flags are a function's properties, which tables have since Go 1.17 (internal/abi.FuncFlag).
type Flags uint8

const (
	TopFrame Flags = 1 << iota // it is the outermost of its stack: runtime.goexit, runtime.mstart
	SPWrite                    // it sets the stack pointer to a value that stack pointer deltas cannot express
	Assembly                   // it is written in assembly
)

// Func is one function of a table.
type Func struct {
	Lo, Hi uint64 // its code, with the padding behind it: [Lo, Hi)
	Flags  Flags  // none before Go 1.17

	t    *Table
	off  int // of its struct _func in t.records
	size int // of struct _func, without what follows it
}

// Len returns the number of entries of the table. Some entries may be holes between
// functions.
func (t *Table) Len() int { return t.n }

// Func returns the function at index i, 0 to Len()-1, in the order of addresses. ok is
// false for a hole.
func (t *Table) Func(i int) (f Func, ok bool) {
	if i < 0 || i >= t.n {
		return Func{}, false
	}
	f = Func{Lo: t.entry(i), Hi: t.entry(i + 1), t: t}
	var off uint64
	if t.field == 4 {
		off = uint64(t.u32(t.functab, (2*i+1)*4))
	} else {
		off = t.pointer(t.functab, (2*i+1)*8)
	}
	switch t.Version {
	case Go12:
		f.size = t.PtrSize + 8*4
	case Go116:
		f.size = t.PtrSize + 9*4
	case Go118:
		f.size = 10 * 4
	default:
		f.size = 11 * 4
	}
	if off == 0 || f.Hi <= f.Lo || off > uint64(len(t.records)) || uint64(len(t.records))-off < uint64(f.size) {
		return Func{}, false
	}
	f.off = int(off)
	f.Flags = Flags(t.records[f.off+f.size-3])
	return f, true
}

// entry returns the i-th address in the list of functions.
func (t *Table) entry(i int) uint64 {
	switch {
	case t.Version >= Go118:
		return t.Text + uint64(t.u32(t.functab, 2*i*4))
	case t.field == 4:
		return uint64(t.u32(t.functab, 2*i*4))
	}
	return t.pointer(t.functab, 2*i*8)
}

// Bounds returns the addresses [lo, hi) of the code: where the first function begins, and where the
// last one ends.
func (t *Table) Bounds() (lo, hi uint64) { return t.entry(0), t.entry(t.n) }

// Find returns the function that pc is in. ok is false if there is none. Find does not
// allocate.
func (t *Table) Find(pc uint64) (f Func, ok bool) {
	i := sort.Search(t.n+1, func(i int) bool { return t.entry(i) > pc }) - 1
	if f, ok = t.Func(i); !ok || pc < f.Lo || pc >= f.Hi {
		return Func{}, false
	}
	return f, true
}

// word returns the i-th word of struct _func behind the entry's address: name, args,
// deferreturn, pcsp, pcfile, pcln, npcdata, and since Go 1.16 cuOffset.
func (f Func) word(i int) uint32 {
	off := f.off + 4 + 4*i
	if f.t.Version < Go118 {
		off += f.t.PtrSize - 4
	}
	return f.t.u32(f.t.records, off)
}

const (
	wordName = iota
	wordArgs
	wordDeferReturn
	wordSP
	wordFile
	wordLine
	wordPCData
	wordUnit
)

// Name returns the function's name with its package: "main.(*T).f". A generic function
// has its type arguments, "main.f[go.shape.int]", or, in some releases, "main.f[...]".
func (f Func) Name() string {
	if f.t == nil {
		return ""
	}
	return text(f.t.names, uint64(f.word(wordName)))
}

// pcData returns the offset in t.values of the i-th PCDATA table, 0 if there is none.
func (f Func) pcData(i int) uint32 {
	off := f.off + f.size + 4*i
	if uint64(i) >= uint64(f.word(wordPCData)) || off+4 > len(f.t.records) {
		return 0
	}
	return f.t.u32(f.t.records, off)
}

// funcData returns the i-th FUNCDATA word. It is an offset for t.FuncData.ReadAt.
func (f Func) funcData(i int) (at uint64, ok bool) {
	t := f.t
	if i >= int(t.records[f.off+f.size-1]) {
		return 0, false
	}
	off := uint64(f.off+f.size) + 4*uint64(f.word(wordPCData))
	if t.Version >= Go118 {
		if off += 4 * uint64(i); off+4 > uint64(len(t.records)) {
			return 0, false
		}
		at := t.u32(t.records, int(off))
		return uint64(at), at != ^uint32(0)
	}
	size := uint64(t.PtrSize)
	if off = (off+size-1)&^(size-1) + size*uint64(i); off+size > uint64(len(t.records)) {
		return 0, false
	}
	at = t.pointer(t.records, int(off))
	return at, at != 0
}
