package abi_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// types makes types of bytes: each may refer to any other, and to itself.
func types(data []byte) []*abi.Type {
	next := func() (b byte) {
		if len(data) > 0 {
			b, data = data[0], data[1:]
		}
		return b
	}
	large := func() uint64 { // mostly small
		b := next()
		if b < 0xf0 {
			return uint64(b)
		}
		return uint64(next()) << (4 * (b & 15))
	}
	list := make([]*abi.Type, next()%16+1)
	for i := range list {
		list[i] = &abi.Type{}
	}
	for _, t := range list {
		kind := next()
		*t = abi.Type{Kind: abi.Kind(kind % 12), Signed: kind&0x80 != 0, ByReference: kind&0x40 != 0, Flexible: kind&0x20 != 0, Size: large()}
		switch t.Kind {
		case abi.Complex, abi.Vector, abi.Array:
			t.Elem, t.Count = list[int(next())%len(list)], large()
		case abi.Struct, abi.Union:
			t.Align = uint64(next()) & 0x7f
			for range next() % 8 {
				m := abi.Member{Type: list[int(next())%len(list)], Offset: large()}
				if m.Offset&1 != 0 {
					m.BitSize, m.BitOffset = uint64(next()), m.Offset/2
				}
				t.Members = append(t.Members, m)
			}
		}
	}
	return list
}

func FuzzCall(f *testing.F) {
	for _, seed := range []string{
		"\x00\x01\x04", // int
		"\x02\x81\x04\x03\x08\x08\x10\x00\x02\x00\x00\x01\x08",         // struct { int; double; }
		"\x01\x03\x04\x08\x10\x00\x04\x00\x00\x00\x04\x00\x08\x00\x0c", // four floats
		"\x01\x04\x10\x05\x20\x00\x00",                                 // complex long double
		"\x01\x01\x01\x07\xf4\x01\x00\xf4\x01",
		"\x00\x08\x08\x00\x01\x00\x00", // it contains itself
		"\x02\x09\x08\x00\x02\x01\x00\x01\x00\x09\x08\x00\x02\x02\x00\x02\x00\x01\x08",
	} {
		f.Add([]byte(seed), uint64(0x7fff0000), uint8(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, sp uint64, flags uint8) {
		list := types(data)
		bounds.Hold(t, 1<<20+100*len(data), func() {
			for _, name := range arch.Names() {
				call(t, arch.ByName(name), list, sp, flags)
			}
		})
	})
}

// call has a convention make a call with an argument of each type, and with results of each type.
func call(t *testing.T, a *arch.Arch, list []*abi.Type, sp uint64, flags uint8) {
	f := &abi.Func{Variadic: flags&1 != 0, Unprototyped: flags&2 != 0, VectorBytes: uint64(flags & 0x70)}
	var args []abi.Value
	for i, param := range list {
		if param.Size > 1<<12 || param.Kind == abi.Void {
			continue
		}
		args = append(args, abi.Value{Type: param, Bytes: make([]byte, param.Size)})
		if i < len(list)/2 || flags&3 == 0 {
			f.Params = append(f.Params, param)
		}
	}
	for _, f.Result = range list {
		if ret, err := a.Calls.ReturnValue(f); err == nil {
			for _, p := range ret.Pieces {
				if p.Offset < 0 || p.Size < 0 || uint64(p.Offset+p.Size) > ret.Size || p.RegOffset < 0 {
					t.Errorf("%s: a result of %d bytes has a piece %+v", a.Name, ret.Size, p)
				}
			}
		}
		c, err := a.Calls.PushDummyCall(f, args, sp, 0x1000)
		if err != nil {
			continue
		}
		if end := c.SP + uint64(len(c.Stack)); end < c.SP || end > sp {
			t.Errorf("%s: from SP %#x on, %d bytes are written, beyond %#x", a.Name, c.SP, len(c.Stack), sp)
		}
		for _, r := range c.Registers {
			if r.Offset < 0 || r.Offset+len(r.Bytes) > 64 {
				t.Errorf("%s: register %d has %d bytes at %d", a.Name, r.Reg, len(r.Bytes), r.Offset)
			}
		}
	}
}
