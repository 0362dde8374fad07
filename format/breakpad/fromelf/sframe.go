package fromelf

import (
	"bufio"
	"errors"
	"strconv"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
)

// writeSFrame writes the STACK CFI records of a file that has SFrame alone.
func (d *Dump) writeSFrame(w *bufio.Writer) error {
	data, addr, err := d.image.SFrame()
	var parts []*sframe.Section
	if err == nil {
		parts, err = sframe.OpenParts(data, addr)
	}
	if errors.Is(err, elf.ErrNoSection) {
		return nil
	}
	if err != nil {
		d.warn(nil, err)
	}
	rows := 1<<16 + 4*len(data) // blocks of a repeated pattern have rows of their own
	for _, s := range parts {
		if err := d.writeSFramePart(w, s, &rows); err != nil {
			return err
		}
	}
	return nil
}

// writeSFramePart writes the records of one part of the section. rows is how many rows may still be
// read.
func (d *Dump) writeSFramePart(w *bufio.Writer, s *sframe.Section, rows *int) error {
	t := frameTranslator{pieces: pieces{d: d}, names: d.arch.Breakpad.Registers(), abi: s.ABI}
	for f, err := range s.FDEs() {
		if err != nil {
			d.warn(nil, err)
			continue
		}
		if !d.covers(f.Start) {
			continue
		}
		t.out = t.out[:0]
		for pc, end := f.Start, f.Start+uint64(f.Size); pc < end; {
			row, err := s.Find(pc)
			if *rows--; *rows < 0 {
				err = errTooMany
			}
			if err != nil {
				d.warn(nil, err)
				break
			}
			next := min(row.Lo+uint64(row.Len), end)
			t.row(&row, pc)
			pc = next
			t.reached = next
		}
		t.end()
		if _, err := w.Write(t.out); err != nil {
			return err
		}
		if *rows < 0 {
			return nil
		}
	}
	return nil
}

// frameTranslator writes rows of SFrame as STACK CFI records.
type frameTranslator struct {
	pieces
	names []string
	abi   sframe.ABI

	cfa, ra, fp string // of the last row
}

// row writes a row that holds from pc on.
func (t *frameTranslator) row(row *sframe.Row, pc uint64) {
	cfa, okCFA := t.text(row.CFA, 0)
	ra, okRA := t.text(row.RA, t.abi.RA())
	fp, okFP := t.text(row.FP, t.abi.FP())
	if !okCFA || !okRA || row.Flags&sframe.RowOutermost != 0 {
		t.end()
		return
	}
	if !okFP {
		fp = t.names[t.abi.FP()]
	}
	fpName := t.names[t.abi.FP()]
	if !t.begun {
		t.begun, t.from = true, pc
		t.init = append(t.init[:0], cfaName+": "+cfa+" "+raName+": "+ra...)
		if fp != fpName {
			t.init = append(t.init, " "+fpName+": "+fp...)
		}
		t.cfa, t.ra, t.fp = cfa, ra, fp
		return
	}
	var rules string
	for _, x := range []struct {
		name, text string
		last       *string
	}{{cfaName, cfa, &t.cfa}, {raName, ra, &t.ra}, {fpName, fp, &t.fp}} {
		if x.text != *x.last {
			rules += " " + x.name + ": " + x.text
			*x.last = x.text
		}
	}
	if rules != "" {
		t.body = appendHex(append(t.body, "STACK CFI "...), pc-t.d.load)
		t.body = append(append(t.body, rules...), '\n')
	}
}

// text returns a rule as an expression; ok is false if it has none. reg is the register that it is
// of, for one that is unchanged.
func (t *frameTranslator) text(r sframe.Rule, reg uint16) (text string, ok bool) {
	off := strconv.Itoa(int(r.Off))
	name := func(reg uint16) (string, bool) {
		if int(reg) >= len(t.names) || t.names[reg] == "" {
			return "", false
		}
		return t.names[reg], true
	}
	base := ""
	switch r.Kind {
	case sframe.RuleSame:
		return name(reg)
	case sframe.RuleSaved:
		return cfaName + " " + off + " + ^", true
	case sframe.RuleValue:
		return cfaName + " " + off + " +", true
	case sframe.RuleSavedAt:
		base, ok = name(r.Reg)
		return base + " " + off + " + ^", ok
	case sframe.RuleInReg:
		base, ok = name(r.Reg)
		return base + " " + off + " +", ok
	}
	return "", false
}
