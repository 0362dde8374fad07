package fromcfi_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
)

const codeAddr = 0x1000

// fdeSource returns a source with one FDE for AMD64, of size bytes of code at
// codeAddr, with the given instructions.
func fdeSource(t testing.TB, size uint64, augmentation string, program ...byte) *fromcfi.Source {
	t.Helper()
	entry := func(body []byte) []byte {
		for len(body)%8 != 4 {
			body = append(body, 0) // DW_CFA_nop
		}
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
	}
	cie := []byte{0xff, 0xff, 0xff, 0xff, 3}
	cie = append(append(cie, augmentation...), 0)
	cie = append(cie, 1, 0x78, 16)            // code 1, data -8, RA column 16
	cie = append(cie, 0x0c, 7, 8, 0x80|16, 1) // def_cfa r7+8, offset r16 cfa-8
	fde := binary.LittleEndian.AppendUint64(make([]byte, 4), codeAddr)
	fde = append(binary.LittleEndian.AppendUint64(fde, size), program...)
	s, err := cfi.Open(cfi.Debug, append(entry(cie), entry(fde)...), 0, cfi.Options{ABI: cfi.ABI{Order: binary.LittleEndian, PtrSize: 8, FP: 6}})
	if err != nil {
		t.Fatal(err)
	}
	return &fromcfi.Source{ABI: sframe.AMD64, Sections: []*cfi.Section{s}}
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

// Instructions with an expression.
func cfaIs(x ...byte) []byte { return append([]byte{0x0f, byte(len(x))}, x...) }
func savedAt(reg byte, x ...byte) []byte {
	return append([]byte{0x10, reg, byte(len(x))}, x...)
}
func valueIs(reg byte, x ...byte) []byte {
	return append([]byte{0x16, reg, byte(len(x))}, x...)
}

// TestExpressions translates rules whose meaning DWARF 5, section 2.5, fixes. The expected texts
// are "CFA RA FP", or the reason why SFrame has no form for the row.
func TestExpressions(t *testing.T) {
	plt := []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}
	for _, tt := range []struct {
		name    string
		program []byte
		want    string
	}{
		{"none", nil, "r7+8 [CFA-8] same"},
		{"DRAP", cfaIs(0x76, 0x78, 0x06), "[r6-8] [CFA-8] same"},                 // breg6-8; deref
		{"FP at FP", savedAt(6, 0x76, 0), "r7+8 [CFA-8] [r6+0]"},                 // breg6 0
		{"sum", cfaIs(0x77, 8, 0x38, 0x22), "r7+16 [CFA-8] same"},                // breg7+8; lit8; plus
		{"regx", cfaIs(0x92, 10, 0x10), "r10+16 [CFA-8] same"},                   // bregx r10+16
		{"at CFA", savedAt(16, 0x38, 0x1c), "r7+8 [CFA-8] same"},                 // lit8; minus
		{"value of CFA", valueIs(6, 0x38, 0x1c), "r7+8 [CFA-8] CFA-8"},           // lit8; minus
		{"value at CFA", valueIs(6, 0x40, 0x1c, 0x06), "r7+8 [CFA-8] [CFA-16]"},  // lit16; minus; deref
		{"value in register", valueIs(6, 0x7b, 0), "r7+8 [CFA-8] r11+0"},         // breg11 0
		{"value at register", valueIs(6, 0x7b, 4, 0x06), "r7+8 [CFA-8] [r11+4]"}, // breg11 4; deref
		{"itself", valueIs(6, 0x76, 0), "r7+8 [CFA-8] same"},                     // breg6 0
		{"signal frame", join(cfaIs(0x77, 0xa0, 1, 0x06), savedAt(16, 0x77, 0xa8, 1), savedAt(6, 0x77, 0xf8, 0), savedAt(7, 0x77, 0xa0, 1)), "[r7+160] [r7+168] [r7+120]"},
		{"twice dereferenced", cfaIs(0x76, 0x78, 0x06, 0x06), "no form for the expression of CFA"},
		{"dereferenced and added", cfaIs(0x76, 0x78, 0x06, 0x23, 8), "no form for the expression of CFA"},
		{"RA twice dereferenced", savedAt(16, 0x77, 0, 0x06), "no form for the expression of RA"},
		{"rounded", cfaIs(0x77, 8, 0x40, 0x1f, 0x1a), "no form for the expression of CFA"},          // breg7+8; lit16; neg; and
		{"rounded to 2", cfaIs(0x77, 8, 0x32, 0x1f, 0x1a), "no form for the expression of CFA"},     // … lit2; neg; and
		{"two registers", cfaIs(0x77, 8, 0x76, 0, 0x22), "no form for the expression of CFA"},       // breg7+8; breg6; plus
		{"by sign", cfaIs(0x77, 8, 0x77, 0, 0x30, 0x2a, 0x22), "no form for the expression of CFA"}, // breg7+8; breg7; lit0; ge; plus
		{"constant", cfaIs(0x08, 8), "no form for the expression of CFA"},
		{"of the PC", cfaIs(0x80, 0), "no form for the expression of CFA"}, // breg16
		{"far", cfaIs(0x77, 8, 0x0c, 0, 0, 0, 0x80, 0x22), "no form for the expression of CFA"},
		{"empty stack", cfaIs(0x22), "the expression of CFA cannot be evaluated"},
		{"endless", cfaIs(0x77, 8, 0x2f, 0xfd, 0xff), "the expression of CFA cannot be evaluated"}, // skip -3
		{"branch on the PC", cfaIs(0x77, 8, 0x80, 0, 0x28, 0, 0), "depends on the PC and is long"},
		{"undefined FP", []byte{0x07, 6}, "FP is undefined"},
		{"undefined RA", []byte{0x07, 16}, "none undefined none"},
		{"RA in register", []byte{0x09, 16, 5}, "r7+8 r5+0 same"},
		{"SP in register", []byte{0x09, 7, 8}, "PREVIOUS's SP is not what SFrame derives"},
		{"SP is the CFA", []byte{0x14, 7, 0}, "r7+8 [CFA-8] same"},
		{"no RA", []byte{0x08, 16}, "RA has no rule"},
		{"PLT", cfaIs(plt...), "r7+8 [CFA-8] same; r7+16 [CFA-8] same; r7+8 [CFA-8] same; r7+16 [CFA-8] same"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := fdeSource(t, 32, "", tt.program...)
			fdes, errs := s.FDEs()
			if len(fdes) != 1 || errs != nil {
				t.Fatal(fdes, errs)
			}
			var got []string
			end := uint64(codeAddr)
			for row, err := range s.Rows(&fdes[0]) {
				if err != nil {
					t.Fatal(err)
				}
				if row.Lo != end || row.Len == 0 {
					t.Errorf("row %v begins not at %#x", row.Row, end)
				}
				end = row.Hi()
				if row.Reason != "" {
					got = append(got, row.Reason)
				} else {
					got = append(got, fmt.Sprintf("%v %v %v", row.CFA, row.RA, row.FP))
				}
			}
			if end != codeAddr+32 {
				t.Errorf("rows end at %#x", end)
			}
			if text := strings.Join(got, "; "); !strings.Contains(text, tt.want) {
				t.Errorf("%s, want %s", text, tt.want)
			}
		})
	}
}

// TestBlocks finds the repetition in rows that vary with the PC.
func TestBlocks(t *testing.T) {
	plt := cfaIs(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22)  // (rip & 15 >= 11) << 3
	wide := cfaIs(0x77, 8, 0x80, 0, 0x4f, 0x1a, 0x4b, 0x2a, 0x33, 0x24, 0x22) // (rip & 31 >= 27) << 3
	once := cfaIs(0x77, 8, 0x80, 0, 0x0a, 0x20, 0x10, 0x2a, 0x33, 0x24, 0x22) // (rip >= 0x1020) << 3
	plt0 := join([]byte{0x0e, 16, 0x46, 0x0e, 24, 0x4a}, plt)                 // sp+16, 6 bytes on sp+24, 10 bytes on plt
	advance := join(plt, []byte{0x40 | 32, 0x0c, 7, 8})                       // plt for 32 bytes, then sp+8
	for _, tt := range []struct {
		name    string
		size    uint64
		program []byte
		want    string
	}{
		{"16", 64, plt, "0x1000+64 mask 16: 0 r7+8, 11 r7+16"},
		{"16, cut short", 40, plt, "0x1000+40 mask 16: 0 r7+8, 11 r7+16"},
		{"32", 64, wide, "0x1000+64 mask 32: 0 r7+8, 27 r7+16"},
		{"one block", 16, plt, "0x1000+16 inc: 0 r7+8, 11 r7+16"},
		{"no repetition", 64, once, "0x1000+64 inc: 0 r7+8, 32 r7+16"},
		{"PLT0", 64, plt0, "0x1000+16 inc: 0 r7+16, 6 r7+24; 0x1010+48 mask 16: 0 r7+8, 11 r7+16"},
		{"and more", 64, advance, "0x1000+32 mask 16: 0 r7+8, 11 r7+16; 0x1020+32 inc: 0 r7+8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, left := fdeSource(t, tt.size, "", tt.program...).Contents()
			if left != nil {
				t.Fatal(left)
			}
			var got []string
			for _, f := range c.Functions {
				var rows []string
				for _, e := range f.Entries {
					rows = append(rows, fmt.Sprintf("%d %v", e.Offset, e.CFA))
				}
				kind := "inc"
				if f.PCType == sframe.PCMask {
					kind = fmt.Sprintf("mask %d", f.RepSize)
				}
				got = append(got, fmt.Sprintf("%#x+%d %s: %s", f.Start, f.Size, kind, strings.Join(rows, ", ")))
			}
			if text := strings.Join(got, "; "); text != tt.want {
				t.Errorf("got  %s\nwant %s", text, tt.want)
			}
		})
	}
}

// TestManyBytes bounds the work on a row that varies with the PC.
func TestManyBytes(t *testing.T) {
	once := cfaIs(0x77, 8, 0x80, 0, 0x0a, 0x20, 0x10, 0x2a, 0x33, 0x24, 0x22)
	c, left := fdeSource(t, 1<<40, "", once...).Contents()
	if len(c.Functions) != 0 || len(left) != 1 {
		t.Errorf("%v %v", c, left)
	}
	c, left = fdeSource(t, 1<<32-1, "", once...).Contents()
	if len(c.Functions) != 0 || len(left) != 1 || !strings.Contains(left[0].Reason, "too many expressions") {
		t.Errorf("%v %v", c, left)
	}
}

// TestProperties translates properties of a whole function.
func TestProperties(t *testing.T) {
	c, _ := fdeSource(t, 32, "S").Contents()
	if len(c.Functions) != 1 || !c.Functions[0].Signal {
		t.Errorf("signal frame: %+v", c.Functions)
	}
	c, _ = fdeSource(t, 32, "", 0x07, 16).Contents()
	if f := c.Functions; len(f) != 1 || len(f[0].Entries) != 1 || f[0].Entries[0] != (sframe.Entry{RA: sframe.Rule{Kind: sframe.RuleUndefined}}) {
		t.Errorf("outermost function: %+v", f)
	}
	c, _ = fdeSource(t, 32, "S", 0x07, 16).Contents()
	if f := c.Functions; len(f) != 1 || len(f[0].Entries) != 1 || !f[0].Signal || f[0].Entries[0].RA.Kind != sframe.RuleUndefined {
		t.Errorf("outermost signal frame: %+v", f)
	}
	// DW_CFA_offset: RBP (6) at CFA+0, an offset that Linux's reader takes for none.
	c, _ = fdeSource(t, 32, "", 0x86, 0).Contents()
	if outermost, signal := 0, 0; strict(fitted(t, c), &outermost, &signal) != "" {
		t.Error("RBP at CFA+0 has the offset 0")
	}
	c, _ = fdeSource(t, 32, "", 0x41, 0x07, 16).Contents()
	if f := c.Functions; len(f) != 1 || len(f[0].Entries) != 2 || f[0].Entries[1].RA.Kind != sframe.RuleUndefined || f[0].Entries[1].CFA.Kind != sframe.RuleNone {
		t.Errorf("function that is outermost after its first byte: %+v", f)
	}
}
