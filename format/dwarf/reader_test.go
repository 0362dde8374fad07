package dwarf

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// The examples of DWARF 5, tables 7.7 and 7.8, and the ends of 64 bits.
func TestLEB128(t *testing.T) {
	for _, test := range []struct {
		data     string
		unsigned uint64
		signed   int64
	}{
		{"\x02", 2, 2},
		{"\x7f", 127, -1},
		{"\x80\x01", 128, 128},
		{"\x81\x01", 129, 129},
		{"\xb9\x64", 12857, -3527},
		{"\x7e", 126, -2},
		{"\xff\x00", 127, 127},
		{"\x81\x7f", 16257, -127},
		{"\x80\x7f", 16256, -128},
		{"\xff\x7e", 16255, -129},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", math.MaxUint64, 0},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 0, math.MinInt64},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", math.MaxInt64, math.MaxInt64},
		{"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 1, 1}, // padded to 16 bytes
		{"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 0, 0},
	} {
		u := New([]byte(test.data), nil)
		if got := u.ULEB128(); got != test.unsigned || u.Bad != (test.unsigned == 0) || u.Bad != u.Overflow || u.More() {
			t.Errorf("% x: unsigned %d, %+v; want %d", test.data, got, u, test.unsigned)
		}
		s := New([]byte(test.data), nil)
		if got := s.SLEB128(); got != test.signed || s.Bad != (test.signed == 0) || s.Bad != s.Overflow || s.More() {
			t.Errorf("% x: signed %d, %+v; want %d", test.data, got, s, test.signed)
		}
	}
}

// A value that is cut off reads as zero.
func TestEnd(t *testing.T) {
	for name, read := range map[string]func(*Reader) uint64{
		"U16": func(r *Reader) uint64 { return uint64(r.U16()) }, "U32": func(r *Reader) uint64 { return uint64(r.U32()) }, "U64": (*Reader).U64,
		"3 bytes": func(r *Reader) uint64 { return r.Uint(3) },
		"ULEB128": (*Reader).ULEB128, "SLEB128": func(r *Reader) uint64 { return uint64(r.SLEB128()) },
		"string": func(r *Reader) uint64 { return uint64(len(r.String())) },
		"Take":   func(r *Reader) uint64 { return uint64(len(r.Take(math.MaxUint64))) },
	} {
		r := New([]byte{0x80}, nil)
		if v := read(&r); v != 0 || !r.Bad || r.Overflow || r.More() {
			t.Errorf("%s of a byte: %d, %+v", name, v, r)
		}
	}
}

func TestFixed(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for size, want := range map[int][2]uint64{
		1: {0x01, 0x01}, 2: {0x0201, 0x0102}, 3: {0x030201, 0x010203}, 4: {0x04030201, 0x01020304}, 8: {0x0807060504030201, 0x0102030405060708},
	} {
		for i, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			r := New(data, order)
			if got := r.Uint(size); got != want[i] || r.Off != size || r.Bad {
				t.Errorf("%d bytes, %v: %#x, %+v; want %#x", size, order, got, r, want[i])
			}
		}
	}
	for _, test := range []struct {
		data       string
		n          uint64
		offsetSize int
	}{{"\x10\x00\x00\x00", 0x10, 4}, {"\xff\xff\xff\xff\x10\x00\x00\x00\x00\x00\x00\x00", 0x10, 8}} {
		r := New([]byte(test.data), binary.LittleEndian)
		if n, size := r.UnitLength(); n != test.n || size != test.offsetSize || r.Bad || r.More() {
			t.Errorf("% x: %#x bytes, offsets of %d", test.data, n, size)
		}
	}
	r := New([]byte("ab\x00cd\x00e"), nil)
	if a, c := r.String(), r.CString(3); a != "ab" || string(c) != "cd" || r.Bad || r.CString(1) != nil || !r.Bad {
		t.Errorf("%q, %q, %+v", a, c, r)
	}
}

// FuzzLEB128 compares both numbers with unbounded arithmetic on the bytes.
func FuzzLEB128(f *testing.F) {
	for _, seed := range []string{"\x7f", "\x80\x7f", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:min(len(data), 20)] // bytes behind a number do not matter
		bounds.Hold(t, 16<<10, func() { compareLEB128(t, data) })
	})
}

func compareLEB128(t *testing.T, data []byte) {
	want, n := new(big.Int), 0
	for n < len(data) {
		want.Or(want, new(big.Int).Lsh(big.NewInt(int64(data[n]&0x7f)), uint(7*n)))
		if n++; data[n-1] < 0x80 {
			break
		}
	}
	whole := n > 0 && data[n-1] < 0x80 && n <= 16
	u := New(data, nil)
	if got := u.ULEB128(); u.Bad == (whole && want.IsUint64()) || !u.Bad && (got != want.Uint64() || u.Off != n) {
		t.Errorf("% x: unsigned %d, %+v; want %v", data, got, u, want)
	}
	if whole && data[n-1]&0x40 != 0 {
		want.Sub(want, new(big.Int).Lsh(big.NewInt(1), uint(7*n)))
	}
	s := New(data, nil)
	if got := s.SLEB128(); s.Bad == (whole && want.IsInt64()) || !s.Bad && (got != want.Int64() || s.Off != n) {
		t.Errorf("% x: signed %d, %+v; want %v", data, got, s, want)
	}
}
