package gopclntab

import (
	"io"
	"slices"
)

// Call is a function with code at an address: one that was inlined there, or the
// function that contains them all.
type Call struct {
	Function string // its name, as Func.Name gives it
	File     string // of the code, or of the next inner call; "" if not known
	Line     int    // from 1; 0 if not known
	Lo       uint64 // where its contiguous code around the address begins
	Entry    uint64 // where its first code begins, the same for all its parts
}

// Numbers of a function's tables. Go 1.13 to 1.15 have another one for the tree.
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
	runs  []run // the value is the index of the innermost call, less than 0 if there is none
	calls []call
	data  []byte // the calls as they are stored, size bytes each
	size  int
}

// call is an inlined call.
type call struct {
	outer int32  // index of the call that it was inlined into, -1 for the function itself
	site  uint64 // an address that has the file and the line of the call
	name  uint32 // offset of the function's name
	ok    bool
}

// Inlined returns the calls that are inlined at pc, the innermost first. The last Call is
// the function itself. It is the only one if nothing is inlined at pc, or that is not known.
// The result is nil if pc is outside the function.
func (f Func) Inlined(pc uint64) []Call {
	if f.t == nil || pc < f.Lo || pc >= f.Hi {
		return nil
	}
	var chain []Call
	left := maxSteps
	at := pc
	if t, ok := f.treeAt(pc); ok {
		var indices []int32
		for i := t.index(at); i >= 0 && int(i) < len(t.calls) && t.calls[i].ok && len(chain) < maxDepth; i = t.calls[i].outer {
			c := Call{Function: text(f.t.names, uint64(t.calls[i].name))}
			c.File, c.Line, _ = f.line(at, &left)
			chain = append(chain, c)
			indices = append(indices, i)
			at = t.calls[i].site
		}
		t.extents(chain, indices, pc)
	}
	c := Call{Function: f.Name(), Lo: f.Lo, Entry: f.Lo}
	c.File, c.Line, _ = f.line(at, &left)
	return append(chain, c)
}

// treeAt is tree if a call is inlined at pc. ok is false if none is, as at most addresses.
func (f Func) treeAt(pc uint64) (t *tree, ok bool) {
	left := maxSteps
	if r, ok := f.value(f.pcData(pcDataInlineIndex), pc, &left); !ok || r.value < 0 {
		return nil, false
	}
	return f.tree()
}

// tree reads which calls are inlined into f. If ok is false, t holds what tree has read, or is nil.
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
		return t, false
	}
	t.data = read(f.t.FuncData, int64(base), (int(last)+1)*t.size)
	t.calls = make([]call, len(t.data)/t.size)
	for i := range t.calls {
		t.calls[i] = t.call(int32(i))
	}
	return t, true
}

// read reads n bytes, or as many as there are. Its buffer grows with the bytes read, since n may
// be too large.
func read(r io.ReaderAt, off int64, n int) []byte {
	const chunk = 1 << 12
	var data []byte
	for len(data) < n {
		at := len(data)
		data = slices.Grow(data, min(n-at, chunk))
		data = data[:min(n, cap(data))]
		if got, _ := r.ReadAt(data[at:], off+int64(at)); got < len(data)-at {
			return data[:at+got]
		}
	}
	return data
}

// index returns the index of the innermost call inlined at pc, less than 0 if there is none.
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

// call reads the i-th call. A call comes before the calls inlined into it.
func (t *tree) call(i int32) (c call) {
	p := t.data[int(i)*t.size:]
	nameAt, siteAt := 4, 8
	if t.f.t.Version < Go120 {
		nameAt, siteAt = 12, 16
	}
	c.name = t.f.t.u32(p, nameAt)
	c.site = t.f.Lo + uint64(t.f.t.u32(p, siteAt))
	c.outer = max(t.index(c.site), -1)
	c.ok = c.site >= t.f.Lo && c.site < t.f.Hi && c.outer < i && uint64(c.name) < uint64(len(t.f.t.names))
	return c
}

// extents sets Lo and Entry of the calls of chain. The innermost is first, and pc is in all of
// them. indices are their indices in t.calls.
func (t *tree) extents(chain []Call, indices []int32, pc uint64) {
	// within[i] is the number of calls of chain that call i is inlined into, including call i
	// itself.
	within := make([]int, len(t.calls))
	for i := range t.calls {
		if k := slices.Index(indices, int32(i)); k >= 0 {
			within[i] = len(chain) - k
		} else if outer := t.calls[i].outer; t.calls[i].ok && outer >= 0 {
			within[i] = within[outer]
		}
	}
	inside := 0 // calls of chain, from the outermost, that the previous run is in
	known := 0  // calls of chain, from the outermost, whose Entry is set
	for _, r := range t.runs {
		n := 0
		if r.value >= 0 && int(r.value) < len(within) {
			n = within[r.value]
		}
		for k := inside; k < n; k++ {
			chain[len(chain)-1-k].Lo = r.lo
		}
		for ; known < n; known++ {
			chain[len(chain)-1-known].Entry = r.lo
		}
		if inside = n; pc < r.hi {
			return
		}
	}
}

// fitTrees is the number of functions whose trees FuncDataFits looks at.
const fitTrees = 8

// FuncDataFits reports whether data may be the data that the table's FUNCDATA words refer
// to. It looks at the trees of the first functions with inlined calls: data must have them,
// and they must agree with the lines of the code. In a large function it looks at the first
// calls only.
func (t *Table) FuncDataFits(data io.ReaderAt) bool {
	with := *t
	with.FuncData = data
	left, trees := maxSteps, 0
	for i := 0; i < t.n && trees < fitTrees; i++ {
		if left <= 0 {
			return trees > 0
		}
		f, ok := with.Func(i)
		if !ok {
			continue
		}
		calls, ok := f.tree()
		if calls != nil {
			left -= len(calls.runs)
		}
		if ok {
			if !calls.fits(&left) {
				return false
			}
			trees++
		}
	}
	return true
}

// fits reports whether the tree may be right about each call. It subtracts the number of
// table entries that it reads from left. If left runs out, fits returns true.
func (t *tree) fits(left *int) bool {
	for _, r := range t.runs {
		if *left--; *left <= 0 {
			return true
		}
		if r.value < 0 {
			continue
		}
		if int(r.value) >= len(t.calls) || !t.calls[r.value].ok {
			return false
		}
		c, p := &t.calls[r.value], t.data[int(r.value)*t.size:]
		if t.f.t.Version < Go120 {
			_, line, _ := t.f.line(c.site, left)
			if outer := int16(t.f.t.ByteOrder.Uint16(p)); int32(outer) != c.outer || int(t.f.t.u32(p, 8)) != line {
				return *left <= 0
			}
			continue
		}
		// The table does not know the first line of a function of another shared library.
		_, line, _ := t.f.line(r.lo, left)
		if start := int(t.f.t.u32(p, 12)); p[1]|p[2]|p[3] != 0 || line < start || c.name == 0 && start == 0 {
			return *left <= 0
		}
	}
	return true
}
