package sframeverify_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/sframeverify"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// differing is a file with functions of 200 bytes, one row for each byte, whose CFA is another one
// in SFrame than in .debug_frame, by turns: no two rows are one disagreement. The names of all end
// a text of name bytes.
func differing(t *testing.T, functions, name int) *elfimage.Image {
	t.Helper()
	const rows, start = 200, 0x100000
	order := binary.LittleEndian
	contents := &sframe.Contents{
		Version: sframe.V3, ABI: sframe.AMD64, FixedRA: -8, Flags: sframe.FDEFuncStartPCRel,
	}
	symbols := make([]byte, 24)
	var frames []byte
	entry := func(body []byte) {
		body = append(body, make([]byte, -(len(body)+4)&7)...)
		frames = append(order.AppendUint32(frames, uint32(len(body))), body...)
	}
	entry([]byte("\xff\xff\xff\xff\x01\x00\x01\x78\x10\x0c\x07\x08\x90\x01")) // DWARF 5 section 6.4.1
	for i := range functions {
		lo := uint64(start + rows*i)
		f := sframe.Function{Start: lo, Size: rows}
		for j := range uint32(rows) {
			f.Entries = append(f.Entries, sframe.Entry{
				Offset: j, CFA: sframe.Rule{Kind: sframe.RuleInReg, Reg: 7, Off: 64 + 8*int32(j%2)},
				RA: sframe.Rule{Kind: sframe.RuleSaved, Off: -8}, FP: sframe.Rule{Kind: sframe.RuleSame},
			})
		}
		contents.Functions = append(contents.Functions, f)
		fde := order.AppendUint64(order.AppendUint64(order.AppendUint32(nil, 0), lo), rows)
		entry(append(fde, "\x0e\x10"...)) // DW_CFA_def_cfa_offset
		symbols = order.AppendUint32(symbols, uint32(1+i))
		symbols = append(symbols, byte(elf.STT_FUNC), 0, 1, 0)
		symbols = order.AppendUint64(order.AppendUint64(symbols, lo), rows)
	}
	section, err := contents.Encode(0x3000000)
	if err != nil {
		t.Fatal(err)
	}
	const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	strings := slices.Concat([]byte{0}, bytes.Repeat([]byte("n"), name), []byte{0})
	f := &elftest.File{Class: elf.ELFCLASS64, Machine: elf.EM_X86_64, Type: elf.ET_DYN, Sections: []elftest.Section{
		{Name: ".text", Type: elf.SHT_NOBITS, Flags: code, Addr: start, Size: uint64(rows * functions)},
		{Name: ".sframe", Type: elfimage.SHT_GNU_SFRAME, Flags: elf.SHF_ALLOC, Addr: 0x3000000, Data: section},
		{Name: ".debug_frame", Data: frames},
		{Name: ".symtab", Type: elf.SHT_SYMTAB, Data: symbols, Link: 5, Entsize: 24},
		{Name: ".strtab", Type: elf.SHT_STRTAB, Data: strings},
	}}
	data := f.Bytes()
	im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestManyDisagreements: of many disagreements, and of few in functions with long names, as many
// are kept as are of use. The others are counted.
func TestManyDisagreements(t *testing.T) {
	const rows = 200
	for _, tt := range []struct{ functions, name, kept int }{
		{40, 100, 40 * rows},
		{60, 100, 10_000},
		{60, 400_000, 16 << 20 / 400_000},
	} {
		t.Run(fmt.Sprintf("%d functions, names of %d bytes", tt.functions, tt.name), func(t *testing.T) {
			im := differing(t, tt.functions, tt.name)
			var r *sframeverify.Result
			var err error
			bounds.Hold(t, 24<<20, func() { r, err = sframeverify.File(im) })
			if err != nil || len(r.Problems) > 0 {
				t.Fatal(err, r.Problems)
			}
			all := tt.functions * rows
			if len(r.Disagreements) != tt.kept || r.Dropped != all-tt.kept || r.Differing != uint64(all) {
				t.Errorf("%d disagreements, %d dropped, %d bytes", len(r.Disagreements), r.Dropped, r.Differing)
			}
			for i := range r.Disagreements {
				if d := &r.Disagreements[i]; d.Function != strings.Repeat("n", tt.name-i/rows) || d.Offset != uint64(i%rows) {
					t.Fatalf("disagreement %d: offset %d in a name of %d bytes", i, d.Offset, len(d.Function))
				}
			}
		})
	}
}

// TestSharedNames: thousands of symbols that share one text take the memory of one.
func TestSharedNames(t *testing.T) {
	im := differing(t, 1_500, 200_000)
	bounds.Hold(t, 96<<20, func() {
		if r, err := sframeverify.File(im); err != nil || r.Functions.Total != 1_500 {
			t.Errorf("%+v: %v", r, err)
		}
	})
}
