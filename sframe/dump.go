package sframe

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Dump prints the section as binutils' "readelf --sframe" and "objdump --sframe"
// do, line for line, from "Header :" on: V1 as binutils 2.40 prints it, V2 as
// 2.44, V3 as 2.47.
//
// "u" is a register that the row does not mention, "f" one that is where the
// header puts it, "U" one for which there is a place holder: as the rules go, the
// last two are either of the first. "[s]" marks a signed return address, "[m]"
// offsets in a block. What cannot be read is left out; the error is that of the
// first such place, or w's.
func (s *Section) Dump(w io.Writer) error {
	d := dumper{Writer: bufio.NewWriter(w), s: s}
	d.header()
	left := len(s.fres) / minFRESize // more FREs than that are shared by FDEs
	var first error
	for f, err := range s.FDEs() {
		if err == nil {
			if left -= int(f.NumFREs); left < 0 {
				err = s.shared(&f)
			} else {
				err = d.function(&f)
			}
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
	fmt.Fprintf(d, "    Num FDEs: %d\n    Num FREs: %d\n\n  Function Index :\n", s.NumFDEs, s.NumFREs)
}

func (d *dumper) function(f *FDE) error {
	fmt.Fprintf(d, "\n    func idx [%d]: pc = 0x%x, size = %d bytes", f.Index, f.Start, int32(f.Size))
	attr := ""
	if f.Signal {
		attr += "S"
	}
	if f.Type == Flex {
		attr += "F"
	}
	if attr != "" {
		fmt.Fprintf(d, ", attr = %q", attr)
	}
	if f.PauthKey == PauthB {
		d.WriteString(", pauth = B key")
	}
	mark, base := "", f.Start
	if f.PCType == PCMask {
		mark, base = "[m]", 0
	}
	fmt.Fprintf(d, "\n    %-16s%-10s%-10s%-13s\n", "STARTPC"+mark, "CFA", "FP", "RA")
	for e, err := range d.s.FREs(*f) {
		if err != nil {
			return err
		}
		fmt.Fprintf(d, "    %016x  ", base+uint64(e.Offset))
		d.rules(f, &e)
		d.WriteByte('\n')
	}
	return nil
}

// rules prints the rules of an FRE.
func (d *dumper) rules(f *FDE, e *FRE) {
	if e.RA.Kind == RuleUndefined {
		d.WriteString("RA undefined")
		return
	}
	fp, ra := d.tracked(e.FP), d.tracked(e.RA)
	if e.FP == d.s.fp0 && (d.s.Version == V1 || f.Type == Flex) {
		fp = "u" // wherever the header puts it
	}
	if e.RA == d.s.ra0 && d.s.FixedRA != 0 {
		ra = "f"
		if d.s.Version == V1 {
			ra = "u"
		}
	}
	n, size := e.Info.NumWords(), e.Info.WordSize()
	if f.Type == Flex {
		if n > 2 && d.s.word(e.Words, 2, size) == 0 {
			ra = "U"
		}
	} else if d.s.FixedRA == 0 && n > 1 && d.s.word(e.Words, 1, size) == 0 {
		ra = "U"
	}
	mark := "   "
	if e.Info.MangledRA() {
		mark = "[s]"
	}
	cfa := d.rule(e.CFA, "%+d")
	if f.Type == Default {
		cfa = d.rule(e.CFA, "+%d")
	}
	fmt.Fprintf(d, "%-10s%-10s%-13s", cfa, fp, ra+mark)
}

// tracked returns what is said of RA or FP.
func (d *dumper) tracked(r Rule) string {
	switch {
	case r.Kind == RuleSame:
		return "u"
	case d.s.Version == V2 && r.Kind == RuleInReg: // s390x, never with an offset
		return fmt.Sprintf("r%d", r.Reg)
	}
	return d.rule(r, "%+d")
}

// rule writes a rule, with the format of the offset from a register.
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
	case RuleSaved:
		return fmt.Sprintf("c%+d", r.Off)
	}
	return "?"
}
