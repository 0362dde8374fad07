package sframe

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
)

// Dump prints the section as binutils' "readelf --sframe" and "objdump --sframe"
// do, line for line, from "Header :" on: V1 as binutils 2.40 prints it, V2 as
// 2.44, V3 as 2.47.
//
// "u" is a register that the row does not mention, "f" one that is where the header puts it, "U"
// one that has a place holder. The rule of a "U" register is the same as the rule of a "u" or an
// "f" one. "[s]" marks a signed return address, "[m]" offsets in a block.
//
// Where only later binutils can read a form, Dump prints as they do. It prints V2 as 2.47 does for
// s390x, with starts relative to their fields, and for an undefined RA, which 2.44 takes for a CFA
// at offset -1.
//
// Dump leaves out what it cannot read, and FREs that FDEs share. It returns the error of the first
// of these, or w's.
func (s *Section) Dump(w io.Writer) error {
	d := dumper{Writer: bufio.NewWriter(w), s: s}
	d.header()
	left := int64(s.fresLen / minFRESize) // if there are more FREs, FDEs share some
	var first error
	for f, err := range s.FDEs() {
		d.head(&f)
		switch n := int64(f.NumFREs); {
		case err != nil:
		case n > left:
			err = s.shared(&f)
		default:
			left -= n
			err = d.rows(&f)
		}
		if err != nil && first == nil {
			first = err
		}
	}
	if err := d.Flush(); err != nil {
		return err
	}
	return first
}

// A dumper prints a section.
type dumper struct {
	*bufio.Writer
	s *Section
}

func (d *dumper) header() {
	s := d.s
	fmt.Fprintf(d, "  Header :\n\n    Version: %v\n    Flags: ", s.Version)
	flags := s.Flags.String()
	switch {
	case s.Flags == 0:
		flags = "NONE"
	case s.Flags == FDESorted|FramePointer && s.ABI != S390X: // 2.40 and 2.44 show one of them
		flags = FramePointer.String()
	}
	d.WriteString(strings.ReplaceAll(flags, "|", ",\n           ") + "\n")
	if s.Version > V1 && s.FixedFP != 0 {
		fmt.Fprintf(d, "    CFA fixed FP offset: %d\n", s.FixedFP)
	}
	if s.Version > V1 && s.FixedRA != 0 {
		fmt.Fprintf(d, "    CFA fixed RA offset: %d\n", s.FixedRA)
	}
	fmt.Fprintf(d, "    Num FDEs: %d\n    Num FREs: %d\n\n  Function Index :\n", s.NumFDEs, int32(s.NumFREs))
}

// head prints a function's own line and the names of the columns.
func (d *dumper) head(f *FDE) {
	fmt.Fprintf(d, "\n    func idx [%d]: pc = 0x%x, size = %d bytes", f.Index, f.Start, int32(f.Size))
	attr := ""
	if f.Signal {
		attr += "S"
	}
	if f.Type == FDEFlex {
		attr += "F"
	}
	if attr != "" {
		fmt.Fprintf(d, ", attr = %q", attr)
	}
	if f.PauthKey == PauthB {
		d.WriteString(", pauth = B key")
	}
	mark := ""
	if f.PCType == PCMask {
		mark = "[m]"
	}
	fmt.Fprintf(d, "\n    %-16s%-10s%-10s%-13s\n", "STARTPC"+mark, "CFA", "FP", "RA")
}

// rows prints a function's FREs.
func (d *dumper) rows(f *FDE) error {
	base := f.Start
	if f.PCType == PCMask {
		base = 0
	}
	var first error
	for e, err := range d.s.FREs(*f) {
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		fmt.Fprintf(d, "    %016x  ", base+uint64(e.Offset))
		switch {
		case e.RA.Kind == RuleUndefined:
			d.WriteString("RA undefined")
		case f.Type == FDEFlex:
			d.flexRow(&e)
		default:
			d.defaultRow(&e)
		}
		d.WriteByte('\n')
	}
	return first
}

func (d *dumper) defaultRow(e *FRE) {
	fp, ra := d.tracked(e.FP), d.tracked(e.RA)
	if d.s.Version == V1 && e.FP == d.s.fp0 {
		fp = "u" // wherever the header puts it
	}
	switch n, size := e.Info.NumWords(), e.Info.WordSize(); {
	case d.s.FixedRA != 0:
		ra = d.fixedRA()
	case n > 1 && d.s.word(e.Words, 1, size) == 0:
		ra = "U"
		if d.beforePlaceHolders() {
			ra = "c+0"
		}
	}
	d.row(e, d.rule(e.CFA, "+%d"), fp, ra)
}

func (d *dumper) flexRow(e *FRE) {
	fp, ra := "u", d.fixedRA()
	n, size := e.Info.NumWords(), e.Info.WordSize()
	i := 2 // the word after the CFA's, where RA's or FP's begin
	if n > i {
		if d.s.word(e.Words, i, size) == 0 {
			ra, i = "U", i+1
		} else {
			ra, i = d.tracked(e.RA), i+2
		}
	}
	if n > i {
		fp = d.tracked(e.FP)
	}
	if n > i+1 && d.s.word(e.Words, i, size) == 0 { // FP has no place holder with an offset
		fp = fmt.Sprintf("c%+d", d.s.word(e.Words, i+1, size))
	}
	d.row(e, d.rule(e.CFA, "%+d"), fp, ra)
}

// fixedRA returns the mark for an RA that a row does not mention.
func (d *dumper) fixedRA() string {
	if d.s.FixedRA == 0 || d.s.Version == V1 {
		return "u"
	}
	return "f"
}

// beforePlaceHolders reports whether binutils 2.40 or 2.44, which do not know RA's place holder,
// read the section.
func (d *dumper) beforePlaceHolders() bool {
	return d.s.Version == V1 || d.s.Version == V2 && d.s.ABI != S390X && d.s.Flags&FDEFuncStartPCRel == 0
}

func (d *dumper) row(e *FRE, cfa, fp, ra string) {
	mark := "   "
	if e.Info.MangledRA() {
		mark = "[s]"
	}
	fmt.Fprintf(d, "%-10s%-10s%-13s", cfa, fp, ra+mark)
}

// tracked returns the text for the rule of RA or FP.
func (d *dumper) tracked(r Rule) string {
	switch {
	case r.Kind == RuleSame:
		return "u"
	case d.s.Version == V2 && r.Kind == RuleInReg: // s390x, never with an offset
		return fmt.Sprintf("r%d", r.Reg)
	}
	return d.rule(r, "%+d")
}

// rule returns the text for a rule. offset is the format of an offset from a register.
func (d *dumper) rule(r Rule, offset string) string {
	reg := fmt.Sprintf("r%d", r.Reg)
	switch r.Reg {
	case d.s.sp:
		reg = "sp"
	case d.s.fp:
		reg = "fp"
	}
	switch r.Kind {
	case RuleInReg:
		return reg + fmt.Sprintf(offset, r.Off)
	case RuleSavedAt:
		return "(" + reg + fmt.Sprintf(offset, r.Off) + ")"
	case RuleSaved, RuleValue: // readelf prints both alike
		return fmt.Sprintf("c%+d", r.Off)
	}
	return "?"
}
