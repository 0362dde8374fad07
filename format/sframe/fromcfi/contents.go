package fromcfi

import (
	"fmt"
	"math"
	"strings"

	"github.com/sfwalk/sfwalk/format/sframe"
)

// A LeftOut is a function that SFrame has no form for.
type LeftOut struct {
	Start, Size uint64 // link-time address, bytes; both 0 for an FDE that cannot be read
	PC          uint64 // start of the row that is the reason
	Reason      string // a phrase that many functions may share
	Detail      string // a detail of this function; may be empty
}

// String returns the function and the reason, in one line.
func (l LeftOut) String() string {
	text := fmt.Sprintf("%#x..%#x: %s", l.Start, l.Start+l.Size, l.Reason)
	if l.PC != l.Start {
		text += fmt.Sprintf(" at %#x", l.PC)
	}
	if l.Detail != "" {
		text += " (" + l.Detail + ")"
	}
	return text
}

// Contents returns the file's call frame information as SFrame V3, and the functions that are left
// out. For a signal frame that is left out, the contents have a function without rows that is
// marked as a signal frame. [sframe.Contents.Convert] finds the parts that an encoding cannot hold:
// large offsets, another version's limits.
//
// Each function becomes an FDE. If its rows repeat in blocks of 16 or 32 bytes (a PLT), the blocks
// become an FDE of PC type mask, and the code before them (PLT0) another FDE.
func (s *Source) Contents() (*sframe.Contents, []LeftOut) {
	s.rows = 0
	c := &sframe.Contents{
		Version: sframe.V3, ABI: s.ABI,
		Flags: sframe.FDESorted | sframe.FDEFuncStartPCRel,
	}
	if s.ABI == sframe.AMD64 {
		c.FixedRA = -8
	}
	fdes, errs := s.FDEs()
	var out []LeftOut
	for _, err := range errs {
		out = append(out, LeftOut{Reason: "the FDE cannot be read", Detail: err.Error()})
	}
	for i := range fdes {
		f := &fdes[i]
		if parts, left := s.functions(f); left != nil {
			left.Start, left.Size = f.Start, f.Size()
			out = append(out, *left)
			if f.CIE.Signal && f.Size() <= math.MaxUint32 {
				c.Functions = append(c.Functions, signalFrame(f.Start, uint32(f.Size())))
			}
		} else {
			c.Functions = append(c.Functions, parts...)
		}
	}
	return c, out
}

// functions returns the functions for an FDE. They cover the code for which it has rules.
func (s *Source) functions(f *FDE) ([]sframe.Function, *LeftOut) {
	if f.Size() > math.MaxUint32 {
		return nil, &LeftOut{PC: f.Start, Reason: "the function has 4 GiB or more"}
	}
	var list []sframe.Function
	var rows []Row // since the last empty row
	for row, err := range s.Rows(f) {
		s.rows++
		switch {
		case s.MaxRows > 0 && s.rows > s.MaxRows:
			return nil, &LeftOut{PC: f.Start, Reason: "the tables have more rows than a file of its size should have"}
		case err != nil:
			return nil, &LeftOut{PC: f.Start, Reason: "the FDE cannot be read", Detail: err.Error()}
		case row.Empty():
			list = append(list, functionsOf(f, rows)...)
			rows = nil
		case row.Reason != "":
			return nil, &LeftOut{PC: row.Lo, Reason: row.Reason, Detail: row.Detail}
		default:
			rows = append(rows, row)
		}
	}
	if list = append(list, functionsOf(f, rows)...); list == nil {
		return nil, &LeftOut{PC: f.Start, Reason: noCFA}
	}
	return list, nil
}

// functionsOf makes functions of adjacent rows: one, or several if rows repeat.
func functionsOf(f *FDE, rows []Row) (list []sframe.Function) {
	for len(rows) > 0 {
		// rows[:n] do not vary with the PC, rows[n:m] do.
		n := 0
		for n < len(rows) && !rows[n].varies {
			n++
		}
		m := n
		for m < len(rows) && rows[m].varies {
			m++
		}
		size := blockSize(rows[n:m])
		if size == 0 {
			n, m = len(rows), len(rows)
		}
		if n > 0 {
			list = append(list, function(f, rows[:n]))
		}
		if n < m {
			block := function(f, rows[n:m])
			block.PCType, block.RepSize = sframe.PCMask, uint8(size)
			for i, e := range block.Entries {
				if uint64(e.Offset) >= size {
					block.Entries = block.Entries[:i]
					break
				}
			}
			list = append(list, block)
		}
		rows = rows[m:]
	}
	return list
}

// function makes a function of adjacent rows.
func function(f *FDE, rows []Row) sframe.Function {
	start := rows[0].Lo
	fn := sframe.Function{
		Start: start, Size: uint32(rows[len(rows)-1].Hi() - start),
		Signal: f.CIE.Signal,
	}
	if rows[0].Flags&sframe.RowPauthB != 0 {
		fn.PauthKey = sframe.PauthB
	}
	for i := range rows {
		r := &rows[i]
		fn.Entries = append(fn.Entries, sframe.Entry{
			Offset:    uint32(r.Lo - start),
			MangledRA: r.Flags&sframe.RowMangledRA != 0,
			CFA:       r.CFA, RA: r.RA, FP: r.FP,
		})
	}
	return fn
}

// signalFrame returns a function that says that it is a signal trampoline, and nothing else.
func signalFrame(start uint64, size uint32) sframe.Function {
	return sframe.Function{Start: start, Size: size, Signal: true}
}

// blockSize returns the size of the blocks in which rows repeat, 0 if they do not repeat.
func blockSize(rows []Row) uint64 {
	if len(rows) == 0 {
		return 0
	}
	for _, size := range []uint64{16, 32} {
		if repeats(rows, size) {
			return size
		}
	}
	return 0
}

// repeats reports whether rows say the same in each block of size bytes. There must be at least two
// blocks; the last may be cut short.
func repeats(rows []Row, size uint64) bool {
	lo, hi := rows[0].Lo, rows[len(rows)-1].Hi()
	if hi-lo < 2*size {
		return false
	}
	at, model := 0, 0 // the rows for pc, and for its counterpart in the first block
	for pc := lo; pc < hi; {
		off := (pc - lo) % size
		if off == 0 {
			model = 0
		}
		for rows[at].Hi() <= pc {
			at++
		}
		for rows[model].Hi() <= lo+off {
			model++
		}
		if !rows[at].says(&rows[model]) {
			return false
		}
		// Go to the end of either row or of the block, whichever is first.
		pc += min(rows[at].Hi()-pc, rows[model].Hi()-lo-off, size-off)
	}
	return true
}

// Fit converts c to version v. It returns the functions that v cannot hold as
// LeftOut. The error is about the section as a whole.
func Fit(c *sframe.Contents, v sframe.Version) (*sframe.Contents, []LeftOut, error) {
	fitting, lost := c.Convert(v)
	var out []LeftOut
	for _, e := range lost {
		if e.Func < 0 {
			return nil, nil, e
		}
		f := &c.Functions[e.Func]
		if f.Signal && len(f.Entries) == 0 {
			continue // Contents has left it out
		}
		if f.Signal && v == sframe.V3 {
			fitting.Functions = append(fitting.Functions, signalFrame(f.Start, f.Size))
		}
		l := LeftOut{Start: f.Start, Size: uint64(f.Size), PC: f.Start, Reason: e.Msg}
		if e.Entry >= 0 {
			l.PC += uint64(f.Entries[e.Entry].Offset)
			if i := strings.LastIndex(e.Msg, ": "); i >= 0 {
				l.Detail, l.Reason = e.Msg[:i], e.Msg[i+2:]
			}
		}
		out = append(out, l)
	}
	return fitting, out, nil
}
