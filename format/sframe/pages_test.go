package sframe

import (
	"bytes"
	"io"
	"testing"

	"github.com/sfwalk/sfwalk/format/pages"
)

// paged opens a fixture's section page by page.
func paged(t testing.TB, r io.ReaderAt, s *Section) *Section {
	t.Helper()
	list, err := OpenPages(pages.New(r, len(s.Data)), s.Addr)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0]
}

// A section that is read page by page has the rows, the FDEs and the FREs of one that is read at
// once, also if it says that it is not sorted; and the last FDE before a PC is the one whose end is
// the highest before it.
func TestPages(t *testing.T) {
	for _, fx := range fixtures {
		for _, sorted := range []bool{true, false} {
			s, _ := openFixture(t, fx.name)
			if !sorted {
				data := bytes.Clone(s.Data)
				data[3] &^= byte(FDESorted)
				s, _ = Open(data, s.Addr)
			}
			p := paged(t, bytes.NewReader(s.Data), s)
			for f, err := range s.FDEs() {
				if err != nil {
					t.Fatal(err)
				}
				for pc := f.Start - 1; pc <= f.Start+uint64(f.Size); pc++ {
					want, wantErr := s.Find(pc)
					row, err := p.Find(pc)
					got, _ := p.FindFDE(pc)
					if fde, _ := s.FindFDE(pc); row != want || err != wantErr || got != fde {
						t.Errorf("%s: %#x: %+v, %v of %+v; want %+v, %v of %+v", fx.name, pc, row, err, got, want, wantErr, fde)
					}
				}
				for _, pc := range []uint64{f.Start - 1, f.Start, f.Start + uint64(f.Size)} {
					checkEndBefore(t, fx.name, s, p, pc)
				}
				count := 0
				for fre, err := range p.FREs(f) {
					if err != nil || len(fre.Words) == 0 && fre.RA.Kind != RuleUndefined {
						t.Errorf("%s: FRE %+v, %v", fx.name, fre, err)
					}
					count++
				}
				if count != int(f.NumFREs) {
					t.Errorf("%s: %d FREs; want %d", fx.name, count, f.NumFREs)
				}
			}
		}
	}
}

func checkEndBefore(t *testing.T, name string, s, p *Section, pc uint64) {
	t.Helper()
	want, covered := uint64(0), false
	for f, err := range s.FDEs() {
		if end := f.Start + uint64(f.Size); err == nil && f.Size > 0 && f.Start <= pc {
			want, covered = max(want, end), covered || end > pc
		}
	}
	for _, x := range []*Section{s, p} {
		if end, ok := x.EndBefore(pc); ok != (want > 0 && !covered) || ok && end != want {
			t.Errorf("%s: EndBefore(%#x) = %#x, %v; want %#x, covered %v", name, pc, end, ok, want, covered)
		}
	}
}

// cut is a file that has become shorter.
type cut struct {
	io.ReaderAt
	end   int64
	bytes int
}

func (c *cut) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p[:min(max(c.end-off, 0), int64(len(p)))], off)
	if c.bytes += n; err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// A look-up in a large section reads few pages of it, and where the file has become shorter, there
// is no row.
func TestFewPages(t *testing.T) {
	const n = 20_000
	c := &Contents{ABI: AMD64, Version: V2, Flags: FDESorted}
	for i := range uint64(n) {
		c.Functions = append(c.Functions, Function{Start: 0x1000000 + 32*i, Size: 16, Entries: []Entry{{CFA: Rule{RuleInReg, AMD64.SP(), 8}, RA: Rule{RuleSaved, 0, -8}, FP: Rule{Kind: RuleSame}}}})
	}
	data, err := c.Encode(0x1000)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Open(data, 0x1000)
	if err != nil {
		t.Fatal(err)
	}
	file := &cut{ReaderAt: bytes.NewReader(data), end: int64(len(data))}
	s := paged(t, file, whole)
	pc := c.Functions[n/3].Start + 3
	want, _ := whole.Find(pc)
	if row, err := s.Find(pc); err != nil || row != want || file.bytes > 14*pages.Size {
		t.Errorf("%+v, %v after %d bytes; want %+v", row, err, file.bytes, want)
	}
	if end, ok := s.EndBefore(pc + 16); !ok || end != pc+13 {
		t.Errorf("the FDE before ends at %#x, %v; want %#x", end, ok, pc+13)
	}
	file = &cut{ReaderAt: bytes.NewReader(data), end: int64(len(data) / pages.Size * 3 / 4 * pages.Size)}
	s = paged(t, file, whole)
	found := 0
	for i := 0; i < n; i += 97 {
		pc := c.Functions[i].Start
		if row, err := s.Find(pc); err == nil {
			if want, _ := whole.Find(pc); row != want {
				t.Fatalf("%#x: %+v; want %+v", pc, row, want)
			}
			found++
		}
	}
	if found == n/97+1 {
		t.Error("all rows of a file that is cut")
	}
}
