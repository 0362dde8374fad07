package expr_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	. "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/trad"
)

// context has registers of 0x1000 times their number, and memory that holds the low byte of each
// address.
func context() *Context {
	return &Context{
		Register: func(r trad.Reg) (uint64, error) {
			if r >= 64 {
				return 0, ErrUnavailable
			}
			return 0x1000 * uint64(r), nil
		},
		Memory: func(addr uint64, b []byte) error {
			for i := range b {
				b[i] = byte(addr) + byte(i)
			}
			return nil
		},
		CFA:       func() (uint64, error) { return 0x7000, nil },
		FrameBase: func() (uint64, error) { return 0x7100, nil },
		Bias:      0x100000,
		Address:   func(i uint64) (uint64, error) { return 0x10 * i, nil },
		TLS:       func(off uint64) (uint64, error) { return 0x500000 + off, nil },
		Call: func(op byte, ref uint64) ([]byte, error) {
			if ref == 9 {
				return []byte{0x98, 9, 0}, nil // itself
			}
			return []byte{0x31, 0x22}, nil // lit1 plus
		},
		Type: func(ref uint64) (Type, error) {
			switch ref {
			case 1:
				return Type{Size: 4, Encoding: Signed}, nil
			case 2:
				return Type{Size: 8, Encoding: Float}, nil
			case 3:
				return Type{Size: 4, Encoding: Unsigned}, nil
			case 4:
				return Type{Size: 4, Encoding: Float}, nil
			case 5:
				return Type{Size: 2, Encoding: Float}, nil
			case 6:
				return Type{Size: 8, Encoding: Signed}, nil
			case 7:
				return Type{Size: 16, Encoding: Signed}, nil
			case 8:
				return Type{Size: 16, Encoding: Unsigned}, nil
			case 10:
				return Type{Size: 16, Encoding: Float, X87: true}, nil
			case 11:
				return Type{Size: 16, Encoding: Float}, nil
			}
			return Type{}, fmt.Errorf("no type at %#x", ref)
		},
	}
}

func expression(code ...byte) Expression {
	return Expression{Code: code, Order: binary.LittleEndian, AddrSize: 8, OffsetSize: 4, Version: 5}
}

// TestLocate has results that follow from the text of DWARF 5, section 2.5 and 2.6.
func TestLocate(t *testing.T) {
	at := func(addr uint64) Location { return Location{Kind: Memory, Addr: addr} }
	value := func(bits uint64, typ Type) Location { return Location{Kind: Value, Bits: bits, Type: typ} }
	int4, double, uint4 := Type{Size: 4, Encoding: Signed}, Type{Size: 8, Encoding: Float}, Type{Size: 4, Encoding: Unsigned}
	half, long := Type{Size: 2, Encoding: Float}, Type{Size: 8, Encoding: Signed}
	minus := uint64(math.MaxUint64)
	for _, test := range []struct {
		name string
		code []byte
		want Location
	}{
		{"nothing", nil, Location{}},
		{"addr", []byte{3, 1, 2, 0, 0, 0, 0, 0, 0}, at(0x100201)},
		{"addrx", []byte{0xa1, 2}, at(0x100020)},
		{"GNU addr_index", []byte{0xfb, 2}, at(0x100020)},
		{"constx", []byte{0xa2, 2}, at(0x20)},
		{"call_frame_cfa", []byte{0x9c}, at(0x7000)},
		{"fbreg -16", []byte{0x91, 0x70}, at(0x70f0)},
		{"breg6 -8", []byte{0x76, 0x78}, at(0x5ff8)},
		{"bregx 33+1", []byte{0x92, 33, 1}, at(0x21001)},
		{"reg6", []byte{0x56}, Location{Kind: Register, Reg: 6}},
		{"regx 40", []byte{0x90, 40}, Location{Kind: Register, Reg: 40}},
		{"form_tls_address", []byte{0x35, 0x9b}, at(0x500005)},
		{"GNU_push_tls_address", []byte{0x35, 0xe0}, at(0x500005)},
		{"deref", []byte{0x31, 0x06}, at(0x0807060504030201)},
		{"deref_size 2", []byte{0x31, 0x94, 2}, at(0x0201)},
		{"const1s stack_value", []byte{0x09, 0xff, 0x9f}, value(minus, Type{})},
		{"implicit_value", []byte{0x9e, 2, 7, 8}, Location{Kind: Implicit, Bytes: []byte{7, 8}}},
		{"implicit_pointer", []byte{0xa0, 4, 3, 0, 0, 0x7f}, Location{Kind: Pointer, Ref: 0x304, Offset: -1}},
		{"pieces", []byte{0x53, 0x93, 4, 0x93, 4, 0x9c, 0x93, 2, 0x31, 0x9f, 0x9d, 3, 5}, Location{Kind: Composite, Pieces: []Piece{
			{Location{Kind: Register, Reg: 3}, 32, 0}, {Location{}, 32, 0}, {at(0x7000), 16, 0}, {value(1, Type{}), 3, 5}}}},
		{"swap minus", []byte{0x33, 0x35, 0x16, 0x1c}, at(2)},
		{"rot", []byte{0x31, 0x32, 0x33, 0x17, 0x1c, 0x1c}, at(4)}, // 3 1 2: 3 - (1 - 2)
		{"over pick drop", []byte{0x31, 0x32, 0x14, 0x15, 1, 0x13, 0x22}, at(3)},
		{"div is signed", []byte{0x09, 0xf9, 0x32, 0x1b, 0x9f}, value(minus-2, Type{})},
		{"mod is not", []byte{0x09, 0xff, 0x3a, 0x1d, 0x9f}, value(5, Type{})},
		{"shra", []byte{0x09, 0xf8, 0x31, 0x26, 0x9f}, value(minus-3, Type{})},
		{"shr by 64", []byte{0x09, 0xf8, 0x08, 64, 0x25, 0x9f}, value(0, Type{})},
		{"lt is signed", []byte{0x09, 0xff, 0x30, 0x2d}, at(1)},
		{"bra back", []byte{0x38, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff}, at(0)}, // counts down
		{"call2", []byte{0x35, 0x98, 1, 0}, at(6)},
		{"call_ref", []byte{0x35, 0x9a, 1, 0, 0, 0}, at(6)},
		{"const_type double, halved", []byte{0xa4, 2, 8, 0, 0, 0, 0, 0, 0, 0x14, 0x40, 0xa4, 2, 8, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x1b, 0x9f}, value(math.Float64bits(2.5), double)},
		{"convert int to double", []byte{0xa4, 1, 4, 0xfe, 0xff, 0xff, 0xff, 0xa8, 2, 0x9f}, value(math.Float64bits(-2), double)},
		{"convert double to int", []byte{0xa4, 2, 8, 0, 0, 0, 0, 0, 0, 4, 0xc0, 0xa8, 1, 0x9f}, value(0xfffffffe, int4)},
		{"convert int to generic", []byte{0xa4, 1, 4, 0xfe, 0xff, 0xff, 0xff, 0xa8, 0, 0x9f}, value(minus-1, Type{})},
		{"convert unsigned to generic", []byte{0xa4, 3, 4, 0xfe, 0xff, 0xff, 0xff, 0xa8, 0, 0x9f}, value(0xfffffffe, Type{})},
		{"unsigned div", []byte{0xa4, 3, 4, 0xfe, 0xff, 0xff, 0xff, 0xa4, 3, 4, 2, 0, 0, 0, 0x1b, 0x9f}, value(0x7fffffff, uint4)},
		{"convert int to half", []byte{0xa4, 1, 4, 0xfe, 0xff, 0xff, 0xff, 0xa8, 5, 0x9f}, value(0xc000, half)},
		{"half plus half", []byte{0xa4, 5, 2, 0, 0x3c, 0xa4, 5, 2, 1, 0, 0x22, 0x9f}, value(0x3c00, half)},
		{"half times half", []byte{0xa4, 5, 2, 0, 0x7b, 0xa4, 5, 2, 0, 0x7b, 0x1e, 0x9f}, value(0x7c00, half)},
		{"signed plus generic", []byte{0xa4, 6, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0x73, 2, 0x22, 0x9f}, value(0x3003, long)}, // as GDB
		{"generic plus signed", []byte{0x73, 2, 0xa4, 6, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0x22, 0x9f}, value(0x3003, long)},
		{"reinterpret float", []byte{0xa4, 4, 4, 0, 0, 0x80, 0x3f, 0xa9, 3, 0x9f}, value(0x3f800000, uint4)},
		{"regval_type", []byte{0xa5, 18, 1, 0x9f}, value(0x12000, int4)},
		{"deref_type", []byte{0x31, 0xa6, 4, 1, 0x9f}, value(0x04030201, int4)},
	} {
		got, err := expression(test.code...).Locate(context())
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, %v; want %+v", test.name, got, err, test.want)
		}
	}
}

func TestErrors(t *testing.T) {
	empty := &Context{}
	for _, test := range []struct {
		code []byte
		env  *Context
		is   error
		text string
	}{
		{[]byte{0x06}, context(), ErrMalformed, "stack is empty"},
		{[]byte{0x2f, 0xfd, 0xff}, context(), ErrMalformed, "no end"},
		{[]byte{0x2f, 1, 0}, context(), ErrMalformed, "outside the expression"},
		{[]byte{0x31, 0x30, 0x1b}, context(), ErrMalformed, "divides by zero"},
		{[]byte{0x98, 9, 0}, context(), ErrMalformed, "nest deeper"},
		{[]byte{0x56, 0x31}, context(), ErrMalformed, "follows a whole location"},
		{[]byte{0x9c, 0x93, 8, 0x31}, context(), ErrMalformed, "follows the last piece"},
		{[]byte{0x03, 1}, context(), ErrMalformed, "cut off"},
		{[]byte{0x02}, context(), ErrMalformed, "unknown"},
		{[]byte{0x31, 0xa4, 2, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x22}, context(), ErrMalformed, "different types"},
		{[]byte{0xa4, 2, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x06}, context(), ErrMalformed, "float serves as an address"},
		{[]byte{0x92, 0xc0, 0, 1}, context(), ErrUnavailable, "register 64"},
		{[]byte{0xa3, 1, 0x55}, context(), ErrUnavailable, "function's entry"},
		{[]byte{0x9c}, empty, ErrUnavailable, "the CFA"},
		{[]byte{0x91, 0}, empty, ErrUnavailable, "the frame base"},
		{[]byte{0x71, 0}, empty, ErrUnavailable, "register 1"},
		{[]byte{0x31, 0x06}, empty, ErrUnavailable, "memory"},
		{[]byte{0xa1, 0}, empty, ErrUnavailable, "addresses"},
		{[]byte{0x30, 0x9b}, empty, ErrUnavailable, "thread-local"},
	} {
		l, err := expression(test.code...).Locate(test.env)
		if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("% x: got %+v, %v; want %v with %q", test.code, l, err, test.is, test.text)
		}
	}
}

// TestNarrow has addresses of 32 bits, in the other byte order.
func TestNarrow(t *testing.T) {
	x := Expression{Order: binary.BigEndian, AddrSize: 4, OffsetSize: 4, Version: 4}
	for _, test := range []struct {
		code []byte
		want uint64
	}{
		{[]byte{0x09, 0xff}, 0xffffffff},
		{[]byte{0x09, 0xff, 0x31, 0x22}, 0},
		{[]byte{0x31, 0x06}, 0x01020304},
		{[]byte{0x09, 0xf8, 0x31, 0x26}, 0xfffffffc},
		{[]byte{0x55}, 0x5000},
	} {
		x.Code = test.code
		if got, err := x.Value(context()); err != nil || got != test.want {
			t.Errorf("% x: got %#x, %v; want %#x", test.code, got, err, test.want)
		}
	}
}
