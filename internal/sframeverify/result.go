package sframeverify

import (
	"strings"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
)

// A Result is the outcome of the comparison of one file.
type Result struct {
	ABI      sframe.ABI
	Versions []sframe.Version // of the SFrame sections, in file order
	// Relocatable says that the file has no addresses yet. Those in the Result are of object.Apart.
	Relocatable bool

	// Disagreements are in ascending order of address: the first 10,000, and no more than have 16
	// MiB of names. Dropped is the number of the others, and Differing counts the bytes of code in
	// all.
	Disagreements []Disagreement
	Dropped       int
	Differing     uint64
	// Problems are the errors of parts that could not be read. These parts are not compared.
	Problems []error

	SFrameFDEs, CFIFDEs uint64 // with code
	Compared            uint64 // bytes of code that both cover, without Unsaid
	// Unsaid counts the bytes of code where DWARF says that the frame is outermost and the SFrame
	// version has no way to say it: V1, and V2 before the second errata. A section of V2 without
	// the first errata's SFRAME_F_FDE_FUNC_START_PCREL counts as one before the second.
	Unsaid uint64

	Bytes     Coverage // of executable code, in bytes
	Functions Coverage // of the functions in the symbol table; only a wholly covered one counts as covered
	Sizes     Sizes
}

// Coverage counts the bytes or functions that the sides cover.
type Coverage struct {
	Total, Both, SFrameOnly, CFIOnly, Neither uint64
}

// Sizes are the sizes of a file's sections, in bytes.
type Sizes struct {
	SFrame, EHFrame, EHFrameHdr, DebugFrame uint64
}

// A Disagreement is a stretch of code for which the sides have different rows.
type Disagreement struct {
	Lo, Hi   uint64 // link-time addresses; Hi is behind the last byte
	Function string // in the symbol table, else the section, such as ".plt"; "" if in neither
	Offset   uint64 // of Lo in the function or section
	SFrame   sframe.Row
	CFI      fromcfi.Row // Reason says why a rule is RuleNone
	Fields   Fields      // the parts that differ
	FDE      int         // index in the SFrame section
	Section  int         // index in the file's SFrame sections
	// Times is the number of blocks with the same disagreement, in an FDE of PC type mask. Lo and
	// Hi are the bounds of the first block. For other FDEs Times is 1.
	Times int
}

// Fields is a set of parts of a row.
type Fields uint8

// The members of Fields.
const (
	CFA Fields = 1 << iota
	RA
	FP
	MangledRA
	PauthKey
	Outermost
	Signal
)

var fieldNames = [...]string{"CFA", "RA", "FP", "mangled RA", "pauth key", "outermost", "signal"}

// Names returns the members' names.
func (c Fields) Names() []string {
	names := []string{}
	for i, name := range fieldNames {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// String returns the members' names, joined by commas.
func (c Fields) String() string { return strings.Join(c.Names(), ", ") }

// diff returns the fields that differ between two rows for the same code. outermost says whether
// a's section can mark outermost frames. If it cannot and b's frame is outermost, said is false.
func diff(a *sframe.Row, b *fromcfi.Row, v sframe.Version, outermost bool) (c Fields, said bool) {
	differs := func(flag sframe.RowFlags, field Fields) {
		if (a.Flags^b.Flags)&flag != 0 {
			c |= field
		}
	}
	if v >= sframe.V3 {
		differs(sframe.RowSignal, Signal)
	}
	ends, truth := a.Flags&sframe.RowOutermost != 0, b.Flags&sframe.RowOutermost != 0
	switch {
	case ends && truth:
		return c, true
	case truth && !outermost:
		return 0, false
	case ends != truth:
		return c | Outermost, true
	}
	if a.CFA != b.CFA {
		c |= CFA
	}
	if a.RA != b.RA {
		c |= RA
	}
	if a.FP != b.FP {
		c |= FP
	}
	differs(sframe.RowMangledRA, MangledRA)
	if a.Flags&b.Flags&sframe.RowMangledRA != 0 {
		differs(sframe.RowPauthB, PauthKey)
	}
	return c, true
}
