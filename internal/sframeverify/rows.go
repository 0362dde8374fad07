package sframeverify

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
)

// maxRows bounds the rows of SFrame sections that are compared, together with one for each of their
// bytes. PC type mask and FDEs that share their FREs make many rows out of few bytes.
const maxRows = 1 << 24

var errTooManyRows = errors.New("the SFrame sections have too many rows; the rest is not compared")

// An sframeFDE is the part of an FDE that counts. Where FDEs overlap, the one that starts last
// counts, as in [sframe.Section.Find].
type sframeFDE struct {
	sframe.FDE
	hi      uint64 // address behind the last byte that counts
	section int
}

func (c *comparison) sframeFDEs() []sframeFDE {
	var list []sframeFDE
	for i, s := range c.in.SFrame {
		for f, err := range s.FDEs() {
			if err != nil {
				c.problem(err)
			} else if f.Size > 0 {
				list = append(list, sframeFDE{f, f.Start + uint64(f.Size), i})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b sframeFDE) int { return cmp.Compare(a.Start, b.Start) })
	for i := 1; i < len(list); i++ {
		list[i-1].hi = min(list[i-1].hi, list[i].Start)
	}
	return list
}

// An sframeRow is a row and its FDE.
type sframeRow struct {
	sframe.Row
	fde *sframeFDE
}

func (r *sframeRow) Hi() uint64 { return r.Lo + uint64(r.Len) }

// sframeRows iterates over all rows, in ascending order and without overlaps.
func (c *comparison) sframeRows(fdes []sframeFDE) iter.Seq[sframeRow] {
	left := maxRows
	for _, s := range c.in.SFrame {
		left += len(s.Data)
	}
	return func(yield func(sframeRow) bool) {
		for i := range fdes {
			f := &fdes[i]
			if f.hi == f.Start {
				continue
			}
			entries := c.entries(f, left)
			block := uint64(f.Size)
			if f.PCType == sframe.PCMask {
				block = uint64(f.RepSize)
			}
			for start := f.Start; start < f.hi && len(entries) > 0; start += block {
				end := min(start+block, f.hi)
				for j, e := range entries {
					if left--; left < 0 {
						c.problem(errTooManyRows)
						return
					}
					lo, hi := start+e.Lo, end
					if j+1 < len(entries) {
						hi = min(end, start+entries[j+1].Lo)
					}
					if lo >= hi {
						continue
					}
					e.Lo, e.Len = lo, uint32(hi-lo)
					if !yield(sframeRow{e, f}) {
						return
					}
				}
			}
		}
	}
}

// entries returns the rows of an FDE, at most max+1. Their Lo is the offset in the function or
// block.
func (c *comparison) entries(f *sframeFDE, max int) []sframe.Row {
	s := c.in.SFrame[f.section]
	var base sframe.Row
	if f.PCType == sframe.PCMask {
		base.Flags |= sframe.RowPCMask
	}
	if f.Signal {
		base.Flags |= sframe.RowSignal
	}
	if f.PauthKey == sframe.PauthB {
		base.Flags |= sframe.RowPauthB
	}
	if f.Outermost(s.Version) {
		base.Flags |= sframe.RowOutermost
		base.RA = sframe.Rule{Kind: sframe.RuleUndefined}
		return []sframe.Row{base}
	}
	list := c.scratch[:0]
	for e, err := range s.FREs(f.FDE) {
		row := base
		row.Lo, row.CFA, row.RA, row.FP = uint64(e.Offset), e.CFA, e.RA, e.FP
		if e.Info.MangledRA() {
			row.Flags |= sframe.RowMangledRA
		}
		if e.RA.Kind == sframe.RuleUndefined {
			row.Flags |= sframe.RowOutermost
		}
		if err != nil {
			// The FREs behind it are left out too: the bad row may hold there.
			c.problem(err)
			break
		}
		if list = append(list, row); len(list) > max {
			break
		}
	}
	c.scratch = list
	return list
}

// cfiRows iterates over all rows of the call frame information that are not empty.
func (c *comparison) cfiRows(fdes []fromcfi.FDE) iter.Seq[fromcfi.Row] {
	return func(yield func(fromcfi.Row) bool) {
		for i := range fdes {
			for row, err := range c.in.CFI.Rows(&fdes[i]) {
				if err != nil {
					c.problem(err)
				} else if !row.Empty() && !yield(row) {
					return
				}
			}
		}
	}
}

// maxProblems bounds the list of problems of a file that is broken everywhere.
const maxProblems = 1000

func (c *comparison) problem(err error) {
	if n := len(c.Problems); n < maxProblems {
		c.Problems = append(c.Problems, err)
	} else if n == maxProblems {
		c.Problems = append(c.Problems, fmt.Errorf("more than %d problems; the others are not listed", maxProblems))
	}
}
