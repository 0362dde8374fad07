//go:build linux

package lookup

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
	"github.com/sfwalk/sfwalk/format/sframe/object"
	"github.com/sfwalk/sfwalk/internal/sframeverify"
)

// file compares the SFrame sections of a file: their dumps with readelf's and the test's, their
// rows with libsframe's, and both with DWARF.
func (s *suite) file(t *testing.T, p processor, file string, d *dumpTest) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sections, err := object.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, object.ErrNoSFrame) {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, section := range sections {
		fmt.Fprintf(&text, "Contents of the SFrame section %s:\n", section.Name)
		if err := section.Dump(&text); err != nil {
			t.Fatal(err)
		}
		name := section.Name
		flag := "--sframe"
		if name != ".sframe" {
			flag += "=" + name
		}
		want, err := s.run(".", p, "readelf", flag, file)
		if err != nil {
			t.Fatal(err)
		}
		if got := text.String(); !strings.HasSuffix(got, want) && strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("readelf:\n%sdump:\n%s", want, got)
		}
		s.dumps++
	}
	if d != nil && d.dumps() {
		head := "linked:     file format elf64\n"
		if _, ok := d.options["objdump"]; !ok {
			head = ""
		}
		if len(sections) == 0 {
			head += "Section '.sframe' has no debugging data.\n"
		}
		if want := d.differs(head + text.String()); want != "" {
			own := ""
			for tool, flags := range d.options {
				if tool == "objdump" || tool == "readelf" {
					if own, err = s.run(".", p, tool, flags, file); err != nil {
						t.Fatal(err)
					}
				}
			}
			if d.differs(own) == "" {
				t.Errorf("the test wants %s:\n%s%s", want, head, text.String())
			} else {
				t.Logf("this build of the linker has another layout, or the test is wrong: it wants %s of\n%s", want, own)
				s.own++
			}
		}
	}
	if len(sections) > 0 {
		s.rows(t, data)
	}
}

// rows compares all rows of a file.
func (s *suite) rows(t *testing.T, data []byte) {
	t.Helper()
	im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	sections, err := object.Sections(im, object.Apart(im))
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range sections {
		s.section(t, section.Section)
	}
	if _, err := fromcfi.ABIOf(&im.ELF().FileHeader); err != nil {
		return // x32
	}
	for _, section := range sections {
		for fde := range section.FDEs() {
			if im.Machine == elf.EM_AARCH64 && fde.Size%4 != 0 {
				return // not instructions: DWARF counts in fours there, and rounds
			}
		}
	}
	r, err := sframeverify.File(im)
	if errors.Is(err, fromcfi.ErrNoCFI) {
		return
	}
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("%v %v", err, r)
	}
	s.compared += int(r.Compared)
	for _, d := range r.Disagreements {
		// docs/sframe.md lists the mistakes of older versions. The linker describes the stubs of
		// .plt.got like the stubs of .plt.
		if s.version == sframe.V3 && d.Function != ".plt.got" {
			t.Errorf("%#x..%#x in %s: %v: SFrame %v, DWARF %v", d.Lo, d.Hi, d.Function, d.Fields, d.SFrame, d.CFI)
		}
	}
	if s.version == sframe.V3 {
		s.againstDWARF(t, im, sections, r)
	}
}

// againstDWARF compares the file's sections with the section that fromcfi makes from the file's
// DWARF. It leaves out the functions that r lists as disagreements between the two.
func (s *suite) againstDWARF(t *testing.T, im *elfimage.Image, sections []object.Section, r *sframeverify.Result) {
	t.Helper()
	source, err := fromcfi.Open(im)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := source.Contents()
	c, _, err = fromcfi.Fit(c, sframe.V3)
	if err != nil {
		t.Fatal(err)
	}
	const addr = 1 << 30
	data, err := c.Encode(addr)
	if err != nil {
		t.Fatal(err)
	}
	made, err := sframe.Open(data, addr)
	if err != nil {
		t.Fatal(err)
	}
	s.lookups += agree(t, s.peer, made)
	for i, section := range sections {
		for fde, err := range section.FDEs() {
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(r.Disagreements, func(d sframeverify.Disagreement) bool { return d.Section == i && d.FDE == fde.Index }) {
				continue
			}
			for pc := fde.Start; pc < fde.Start+uint64(fde.Size); pc++ {
				want, wantErr := section.Find(pc)
				got, err := made.Find(pc)
				if wantErr == sframe.ErrSignalFrame && err == nil && got.Flags&sframe.RowSignal != 0 {
					continue // SFrame has a form for it that the assembler does not use
				}
				if errors.Is(wantErr, sframe.ErrNoRow) && err == sframe.ErrNoFDE {
					continue // before the first row
				}
				want.Flags |= got.Flags & sframe.RowPCMask
				got.Flags |= want.Flags & sframe.RowPCMask
				if err != wantErr || got.CFA != want.CFA || got.RA != want.RA || got.FP != want.FP || got.Flags != want.Flags {
					t.Errorf("%#x: %v %v, made of DWARF %v %v", pc, want, wantErr, got, err)
					break
				}
			}
		}
	}
}

// section compares with libsframe's look-ups, which need sections that are sorted, of V2 or V3,
// with starts relative to their fields. Other sections are rewritten so.
func (s *suite) section(t *testing.T, section *sframe.Section) {
	t.Helper()
	c, err := section.Contents()
	if err != nil {
		t.Fatal(err)
	}
	if section.Version == sframe.V1 {
		c, _ = c.Convert(sframe.V2)
	}
	c.Flags |= sframe.FDESorted | sframe.FDEFuncStartPCRel
	data, err := c.Encode(section.Addr)
	if err != nil {
		t.Fatal(err)
	}
	sorted, err := sframe.Open(data, section.Addr)
	if err != nil {
		t.Fatal(err)
	}
	if section.Flags&sframe.FDESorted != 0 && section.Version == sorted.Version && section.Flags == sorted.Flags {
		s.lookups += agree(t, s.peer, section)
	}
	s.lookups += agree(t, s.peer, sorted)
	for fde, err := range section.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		for pc := fde.Start; pc < fde.Start+uint64(fde.Size); pc++ {
			want, wantErr := section.Find(pc)
			if got, err := sorted.Find(pc); got != want || err != wantErr {
				t.Fatalf("%#x: %v %v, sorted %v %v", pc, want, wantErr, got, err)
			}
		}
	}
}
