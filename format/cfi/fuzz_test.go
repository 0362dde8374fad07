package cfi_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/format/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// FuzzSection opens arbitrary bytes and looks up rows. Each row must hold for the address that was
// looked up.
func FuzzSection(f *testing.F) {
	for _, seed := range []struct{ name, section string }{
		{"arm64-pauth", ".eh_frame"}, {"arm64-bkey", ".eh_frame"}, {"s390x", ".eh_frame"}, {"s390x-debug", ".debug_frame"},
	} {
		in := load(f, "testdata/"+seed.name+".so", seed.section, seed.section == ".eh_frame")
		o := golden(f, seed.name, seed.section)
		f.Add(in.data, in.opts.Header, in.addr, in.opts.HeaderAddr, o.fdes[1].start, in.kind == cfi.Debug, seed.name[0] == 's', false)
	}
	f.Add(handMade(join(0x0c, 7, 8, 0x90, 1), join(0x0f, 2, 0x77, 0x10, 0x0a, 0x83, 2, 0x41, 0x0b, 0x16, 3, 1, 0x96)), []byte(nil), uint64(0), uint64(0), uint64(0x1000), true, false, false)
	addSections(f)
	f.Fuzz(func(t *testing.T, data, header []byte, addr, headerAddr, pc uint64, debug, big, short bool) {
		opts := cfi.Options{ABI: cfi.ABI{Order: binary.LittleEndian, PtrSize: 8, FP: 6, Link: 16, PC: 32, PAuth: true}, Header: header, HeaderAddr: headerAddr, TextBase: 1, DataBase: 2}
		if big {
			opts.Order = binary.BigEndian
		}
		if short {
			opts.PtrSize = 4
		}
		opts.Thunk = func(addr uint64) bool { return addr%3 == 0 }
		kind := cfi.EH
		if debug {
			kind = cfi.Debug
		}
		bounds.Hold(t, 256<<10+4<<10*(len(data)+len(header)), func() { checkSection(t, kind, data, addr, pc, opts) })
	})
}

func checkSection(t *testing.T, kind cfi.Kind, data []byte, addr, pc uint64, opts cfi.Options) {
	s, err := cfi.Open(kind, data, addr, opts)
	if err != nil {
		t.Fatal(err)
	}
	check := func(pc uint64) {
		row, fde, err := s.Row(pc)
		if err != nil {
			if err.Error() == "" {
				t.Error("empty error")
			}
			return
		}
		if !row.Contains(pc) || !fde.Contains(pc) || row.Lo < fde.Start || row.Lo+uint64(row.Len) > fde.Start+fde.Len || row.Others == nil {
			t.Errorf("Row(%#x) = %+v of %+v", pc, row, fde)
		}
		_ = format(row)
		for _, x := range row.Others.Exprs {
			x.Eval(env{opts}, pc, true)
		}
	}
	check(pc)
	checkPaged(t, s, kind, data, addr, pc, opts)
	fdes := 0
	for fde, err := range s.FDEs() {
		if fdes++; fdes > 64 {
			break
		}
		if err != nil {
			continue
		}
		check(fde.Start)
		_ = s.Augmentation(&fde.CIE)
		next, rows := fde.Start, 0
		for row, err := range s.Rows(fde) {
			if rows++; err != nil || rows > 64 {
				next = fde.Start + fde.Len
				break
			}
			if row.Lo != next || row.Len == 0 {
				t.Fatalf("row %+v at %#x of %+v", row, next, fde)
			}
			next += uint64(row.Len)
		}
		if next != fde.Start+fde.Len {
			t.Errorf("rows end at %#x of %+v", next, fde)
		}
	}
}

// checkPaged looks up an address in a section that is read page by page: the answer is as from s,
// which is not.
func checkPaged(t *testing.T, s *cfi.Section, kind cfi.Kind, data []byte, addr, pc uint64, opts cfi.Options) {
	opts.HeaderPages, opts.Header = pages.New(bytes.NewReader(opts.Header), len(opts.Header)), nil
	paged, err := cfi.OpenPages(kind, pages.New(bytes.NewReader(data), len(data)), addr, opts)
	if err != nil {
		t.Fatal(err)
	}
	want, fde, wantErr := s.Row(pc)
	row, got, err := paged.Row(pc)
	if (err == nil) != (wantErr == nil) || err == nil && (format(row) != format(want) || got.Offset != fde.Offset) {
		t.Errorf("Row(%#x) by pages: %s of the FDE at %#x, %v; want %s of that at %#x, %v", pc, format(row), got.Offset, err, format(want), fde.Offset, wantErr)
	}
}

// FuzzProgram runs any instructions of a CIE and an FDE. A look-up at either end of a row must give
// the same row as reading all rows in turn.
func FuzzProgram(f *testing.F) {
	call := join(0x0c, 7, 8, 0x90, 1) // def_cfa r7+8; offset r16 at CFA + 1*-8
	f.Add(call, join(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x4c, 0x0c, 7, 8, 0xc6, 0x0b), false)
	f.Add(call, join(0x02, 4, 0x0a, 0x03, u16(8), 0x07, 16, 0x0b, 0x04, u32(32), 0x08, 3, 0x09, 3, 12, 0x06, 3), false)
	f.Add(call, join(0x41, 0x0f, 3, 0x77, 8, 0x06, 0x42, 0x10, 6, 2, 0x76, 0x10, 0x42, 0x16, 3, 2, 0x77, 0, 0x42, 0x14, 12, 1, 0x42, 0x15, 13, 1, 0x42, 0x11, 14, 1, 0x12, 7, 0x7f, 0x13, 0x7e), false)
	f.Add(call, join(0x01, u64(0x1040), 0x2d, 0x41, 0x2d, 0x2e, 16, 0x2f, 3, 1), true)
	addPrograms(f)
	f.Fuzz(func(t *testing.T, initial, program []byte, pauth bool) {
		opts := amd64
		opts.PAuth = pauth
		data := handMade(initial, program)
		bounds.Hold(t, 256<<10+4<<10*len(data), func() {
			checkSection(t, cfi.Debug, data, 0, 0x1080, opts)
			s, err := cfi.Open(cfi.Debug, data, 0, opts)
			if err != nil {
				t.Fatal(err)
			}
			for fde, err := range s.FDEs() {
				if err != nil {
					continue
				}
				for row, err := range s.Rows(fde) {
					for _, pc := range []uint64{row.Lo, row.Lo + uint64(row.Len) - 1} {
						got, _, gotErr := s.Row(pc)
						if err != nil {
							break // the address of the error is not known
						}
						if gotErr != nil || got.Lo != row.Lo || got.Len != row.Len || format(got) != format(row) {
							t.Fatalf("Row(%#x) = [%#x,+%#x) %s, %v; in turn it is [%#x,+%#x) %s", pc, got.Lo, got.Len, format(got), gotErr, row.Lo, row.Len, format(row))
						}
					}
				}
			}
		})
	})
}

// FuzzEval evaluates arbitrary expressions.
func FuzzEval(f *testing.F) {
	f.Add(join(0x77, 8, 0x80, 11, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), uint64(0x7000), false)
	f.Add(join(0x35, 0x31, 0x1c, 0x12, 0x28, u16(0xfffa)), uint64(0x7000), true)
	f.Add(join(0x77, 0xa0, 1, 0x06), uint64(0), true)
	f.Add(join(0x31, 0x32, 0x33, 0x17, 0x15, 2, 0x94, 4, 0x0f, u64(1), 0x1b), uint64(1), false)
	addExpressions(f)
	f.Fuzz(func(t *testing.T, code []byte, cfa uint64, short bool) {
		if len(code) > 127 {
			return
		}
		opts := amd64
		if short {
			opts.PtrSize = 4
		}
		var x trad.Expression = expr(t, opts, code)
		var v uint64
		var err error
		bounds.Hold(t, 256<<10, func() { v, err = x.Eval(env{opts}, cfa, true) })
		if short && v > 0xffffffff {
			t.Errorf("%v: %#x, %v", x, v, err)
		}
		if x.String() == "" && len(code) > 0 {
			t.Error("empty string")
		}
	})
}
