package gopclntab

import (
	"io"
	"slices"
)

// Call is a function whose code is at an address: one that was inlined there, or the
// one that all is in.
type Call struct {
	Function string // its name, as Func.Name gives it
	File     string // where the code, or the next inner call, is in it; "" if not known
	Line     int    // from 1; 0 if not known
	Lo       uint64 // where its contiguous code around the address begins
	Entry    uint64 // where its first code begins, the same for all its parts
}

// Tables of a function; Go 1.13 to 1.15 have another number for the tree.
const (
	pcDataInlineIndex   = 2
	funcDataInlineTree  = 3
	funcDataInlineGo115 = 4
)

// Bounds of one call of Inlined. Large functions of real programs have some thousand
// inlined calls, ten deep.
const (
	maxInlined = 1 << 16 // runs of addresses, and calls inlined into a function
	maxDepth   = 1 << 8
)

// A tree says which calls are inlined into a function (FUNCDATA_InlTree, struct
// inlinedCall), and where (PCDATA_InlTreeIndex).
type tree struct {
	f     Func
	runs  []run // the index of the innermost call, or less than 0
	calls []byte
	size  int // of a struct inlinedCall
}

// Inlined returns the calls that are inlined at pc, the innermost first, and last the
// function itself; that alone where nothing is inlined, or where that is not known.
// Where pc is outside of the function, there are none.
func (f Func) Inlined(pc uint64) []Call {
	if f.t == nil || pc < f.Lo || pc >= f.Hi {
		return nil
	}
	var chain []Call
	at := pc
	if t, ok := f.tree(); ok {
		for i := t.index(at); i >= 0 && len(chain) < maxDepth; i = t.index(at) {
			name, site, ok := t.call(i)
			if !ok {
				break
			}
			c := Call{Function: name}
			c.File, c.Line, _ = f.Line(at)
			c.Lo, c.Entry = t.extent(i, pc)
			chain = append(chain, c)
			at = site
		}
	}
	c := Call{Function: f.Name(), Lo: f.Lo, Entry: f.Lo}
	c.File, c.Line, _ = f.Line(at)
	return append(chain, c)
}

// tree reads which calls are inlined into f.
func (f Func) tree() (t *tree, ok bool) {
	nth := funcDataInlineTree
	if f.t.Version == Go12 {
		nth = funcDataInlineGo115
	}
	off := f.pcData(pcDataInlineIndex)
	base, ok := f.funcData(nth)
	if off == 0 || !ok || f.t.FuncData == nil {
		return nil, false
	}
	t = &tree{f: f, size: 16}
	if f.t.Version < Go120 {
		t.size = 20
	}
	last := int32(-1)
	for c := f.cursor(off); c.next() && len(t.runs) < maxInlined; {
		t.runs = append(t.runs, c.run)
		last = max(last, c.value)
	}
	if last < 0 || last >= maxInlined {
		return nil, false
	}
	t.calls = make([]byte, (int(last)+1)*t.size)
	n, _ := f.t.FuncData.ReadAt(t.calls, int64(base))
	t.calls = t.calls[:n]
	return t, true
}

// index returns which call is inlined innermost at pc; less than 0 if there is none.
func (t *tree) index(pc uint64) int32 {
	i, _ := slices.BinarySearchFunc(t.runs, pc, func(r run, pc uint64) int {
		if r.hi <= pc {
			return -1
		}
		return 1
	})
	if i == len(t.runs) || pc < t.runs[i].lo {
		return -1
	}
	return t.runs[i].value
}

// call returns the name of the i-th inlined function, and an address that has the file,
// the line and the index of what it was inlined into.
func (t *tree) call(i int32) (name string, site uint64, ok bool) {
	at := int(i) * t.size
	if i < 0 || len(t.calls) < at+t.size {
		return "", 0, false
	}
	nameAt, siteAt := at+4, at+8
	if t.f.t.Version < Go120 {
		nameAt, siteAt = at+12, at+16
	}
	site = t.f.Lo + uint64(t.f.t.u32(t.calls, siteAt))
	if site < t.f.Lo || site >= t.f.Hi {
		return "", 0, false
	}
	name = text(t.f.t.names, uint64(t.f.t.u32(t.calls, nameAt)))
	return name, site, name != ""
}

// extent returns where the code of call i around pc begins, and where its first code
// does.
func (t *tree) extent(i int32, pc uint64) (lo, entry uint64) {
	within, known := false, false
	inside := make(map[int32]bool)
	for _, r := range t.runs {
		in, ok := inside[r.value]
		if !ok {
			in = t.within(r.value, i)
			inside[r.value] = in
		}
		if in && !known {
			entry, known = r.lo, true
		}
		if in && !within {
			lo = r.lo
		}
		if within = in; pc < r.hi {
			break
		}
	}
	return lo, entry
}

// within reports whether call i is call outer or inlined into it.
func (t *tree) within(i, outer int32) bool {
	for range maxDepth {
		if i < 0 || i == outer {
			return i == outer
		}
		_, site, ok := t.call(i)
		if !ok {
			return false
		}
		i = t.index(site)
	}
	return false
}

// fitTrees is how many functions' trees FuncDataFits looks at.
const fitTrees = 8

// FuncDataFits reports whether data may be what FUNCDATA words of the table are for:
// whether the trees of inlined calls of its first functions with such are in it.
func (t *Table) FuncDataFits(data io.ReaderAt) bool {
	with := *t
	with.FuncData = data
	named := false // zeros are a call of the first name
	for i, trees := 0, 0; i < t.n && trees < fitTrees; i++ {
		f, ok := with.Func(i)
		if !ok {
			continue
		}
		calls, ok := f.tree()
		if !ok {
			continue
		}
		for _, r := range calls.runs {
			if r.value < 0 {
				continue
			}
			name, _, ok := calls.call(r.value)
			if !ok {
				return false
			}
			named = named || name != text(t.names, 0)
		}
		if trees++; trees == fitTrees && !named {
			return false
		}
	}
	return true
}
