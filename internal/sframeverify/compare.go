package sframeverify

import (
	"iter"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
)

// An Input has the two sides of a comparison. All addresses are link-time ones.
type Input struct {
	SFrame  []*sframe.Section
	CFI     *fromcfi.Source
	Text    []Span // executable code by section, ascending and without overlaps
	Symbols []Span // functions, ascending
}

// A Range is a stretch of addresses. Hi is the address behind the last one.
type Range struct{ Lo, Hi uint64 }

// A Span is a stretch of code with a name.
type Span struct {
	Range
	Name string
}

type comparison struct {
	Result
	in      *Input
	scratch []sframe.Row
	// first is the index of the compared FDE's first disagreement.
	first int
	names int // bytes of the names of functions in Disagreements
}

// A Result has at most so many disagreements, and so many bytes of names in them: compressed tables
// of a small file have millions of rows, and each may be in a function with a long name.
const maxDisagreements, maxNames = 10_000, 16 << 20

// Compare compares the two sides. It leaves Sizes zero. Only one goroutine at a time may
// compare the same CFI.
func Compare(in *Input) *Result {
	c := &comparison{in: in}
	c.ABI = in.CFI.ABI
	for _, s := range in.SFrame {
		c.Versions = append(c.Versions, s.Version)
	}
	sframeFDEs := c.sframeFDEs()
	cfiFDEs, errs := in.CFI.FDEs()
	for _, err := range errs {
		c.problem(err)
	}
	c.SFrameFDEs, c.CFIFDEs = uint64(len(sframeFDEs)), uint64(len(cfiFDEs))
	c.walk(sframeFDEs, cfiFDEs)
	return &c.Result
}

// walk goes through both sides together.
func (c *comparison) walk(sframeFDEs []sframeFDE, cfiFDEs []fromcfi.FDE) {
	nextA, stopA := iter.Pull(c.sframeRows(sframeFDEs))
	defer stopA()
	nextB, stopB := iter.Pull(c.cfiRows(cfiFDEs))
	defer stopB()
	var inA, inB ranges
	a, okA := nextA()
	b, okB := nextB()
	for okA || okB {
		if okA && okB {
			if lo, hi := max(a.Lo, b.Lo), min(a.Hi(), b.Hi()); lo < hi {
				c.row(&a, &b, lo, hi)
			}
		}
		// The row that ends first is done.
		if !okB || okA && a.Hi() <= b.Hi() {
			inA.add(a.Lo, a.Hi())
			a, okA = nextA()
		} else {
			inB.add(b.Lo, b.Hi())
			b, okB = nextB()
		}
	}
	c.Bytes = coverBytes(c.in.Text, inA, inB)
	c.Functions = coverFunctions(c.in.Symbols, inA, inB)
}

// row compares two rows for [lo, hi), the code for which both hold.
func (c *comparison) row(a *sframeRow, b *fromcfi.Row, lo, hi uint64) {
	s := c.in.SFrame[a.fde.section]
	outermost := s.Version >= sframe.V3 || s.Version == sframe.V2 && s.Flags&sframe.FDEFuncStartPCRel != 0
	fields, said := diff(&a.Row, b, s.Version, outermost)
	if !said {
		c.Unsaid += hi - lo
		return
	}
	c.Compared += hi - lo
	if fields == 0 {
		return
	}
	c.Differing += hi - lo
	d := Disagreement{Lo: lo, Hi: hi, SFrame: a.Row, CFI: *b, Fields: fields, FDE: a.fde.Index, Section: a.fde.section, Times: 1}
	if n := len(c.Disagreements); c.first == n || c.Disagreements[c.first].FDE != d.FDE || c.Disagreements[c.first].Section != d.Section {
		c.first = n
	}
	if c.known(&d) {
		return
	}
	if f := find(c.in.Symbols, lo); f != nil {
		d.Function, d.Offset = f.Name, lo-f.Lo
	} else if f = find(c.in.Text, lo); f != nil && f.Name != "" {
		d.Function, d.Offset = f.Name, lo-f.Lo
	}
	if c.names += len(d.Function); len(c.Disagreements) >= maxDisagreements || c.names > maxNames {
		c.Dropped++
		return
	}
	c.Disagreements = append(c.Disagreements, d)
}

// known reports whether d continues another disagreement of the same FDE, or repeats it in another
// block. If so, it adds d to that disagreement.
func (c *comparison) known(d *Disagreement) bool {
	list := c.Disagreements[c.first:]
	if n := len(list); n > 0 {
		if last := &list[n-1]; last.Times == 1 && last.Hi == d.Lo && last.says(d) {
			last.Hi = d.Hi
			return true
		}
	}
	if d.SFrame.Flags&sframe.RowPCMask == 0 {
		return false
	}
	for i := range list[:min(len(list), maxKinds)] {
		if list[i].says(d) && list[i].Hi-list[i].Lo >= d.Hi-d.Lo {
			list[i].Times++
			return true
		}
	}
	return false
}

// maxKinds is the number of an FDE's disagreements that are searched for a repetition.
const maxKinds = 16

// says reports whether two disagreements are the same except for their addresses.
func (d *Disagreement) says(o *Disagreement) bool {
	a, b := &d.SFrame, &o.SFrame
	x, y := &d.CFI, &o.CFI
	return d.Fields == o.Fields &&
		a.Flags == b.Flags && a.CFA == b.CFA && a.RA == b.RA && a.FP == b.FP &&
		x.Flags == y.Flags && x.CFA == y.CFA && x.RA == y.RA && x.FP == y.FP && x.Reason == y.Reason
}
