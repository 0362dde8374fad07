package exidx

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// tables has an index at 0x1000, and tables at 0x2000 (EHABI32, sections 6.2 and 6.3, 10.2).
func tables(order binary.AppendByteOrder) (index []byte, read func(addr uint64, p []byte) (int, error)) {
	words := func(addr uint32, list ...uint32) (b []byte) {
		for i, w := range list {
			if w&0xf000_0000 == 0x7000_0000 { // an address of prel31
				w = (w&0x0fff_ffff - addr - 4*uint32(i)) & 0x7fff_ffff
			}
			b = order.AppendUint32(b, w)
		}
		return b
	}
	index = words(0x1000,
		0x70000100, 0x80a8b0b0, // inline
		0x70000200, cantUnwind,
		0x70000301, 0x70002000, // Thumb: Lu16
		0x70000400, 0x70002008, // generic
		0x70000500, 0x70002014, // reserved
		0x70000600, 0x7000201a, // not aligned
		0x70000700, 0x70003000, // not there
		0x70000800, 0x81000000, // inline, and not Su16
		0x70000900, 0x70002018, // upper bits
	)
	memory := words(0x2000, 0x8101b184, 0x0084b0b0, 0x70000abc, 0x0101b108, 0x8400b0b0, 0x83000000, 0xc0000000)
	return index, func(addr uint64, p []byte) (int, error) {
		if addr < 0x2000 || addr-0x2000 >= uint64(len(memory)) {
			return 0, errors.New("not there")
		}
		return copy(p, memory[addr-0x2000:]), nil
	}
}

func TestSection(t *testing.T) {
	for _, order := range []interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}{binary.LittleEndian, binary.BigEndian} {
		index, read := tables(order)
		s, err := Open(append(index, 1, 2, 3), 0x1000, order, read)
		if err != nil || s.Len() != 9 {
			t.Fatalf("%d entries, %v", s.Len(), err)
		}
		for _, x := range []struct {
			addr   uint64
			lo, hi uint64
			want   string
			err    error
			model  Model
		}{
			{0xff, 0, 0, "", ErrNotFound, 0},
			{1<<32 + 0x100, 0, 0, "", ErrNotFound, 0},
			{0x100, 0x100, 0x200, "\xa8\xb0\xb0", nil, Su16},
			{0x1ff, 0x100, 0x200, "\xa8\xb0\xb0", nil, Su16},
			{0x200, 0x200, 0x300, "", ErrCantUnwind, 0},
			{0x300, 0x300, 0x400, "\xb1\x84\x00\x84\xb0\xb0", nil, Lu16},
			{0x400, 0x400, 0x500, "\x01\xb1\x08\x84\x00\xb0\xb0", nil, Generic},
			{0x500, 0x500, 0x600, "", ErrUnsupported, 0},
			{0x600, 0x600, 0x700, "", ErrMalformed, 0},
			{0x700, 0x700, 0x800, "", ErrMalformed, 0},
			{0x800, 0x800, 0x900, "", ErrMalformed, 0},
			{0x901, 0x900, 1 << 32, "", ErrMalformed, 0},
		} {
			e, err := s.Find(x.addr)
			var u Unwind
			if err == nil {
				if u, err = s.Unwind(e); u.Model == Generic && u.Personality != 0xabc {
					t.Errorf("%#x: personality %#x", x.addr, u.Personality)
				}
			}
			if !errors.Is(err, x.err) || string(u.Code) != x.want || e.Lo != x.lo || e.Hi != x.hi || u.Model != x.model {
				t.Errorf("%#x: %+v %+v %v; want %+v", x.addr, e, u, err, x)
			}
		}
	}
	if _, err := Open(make([]byte, 16), 0xffff_fff8, binary.LittleEndian, nil); !errors.Is(err, ErrMalformed) {
		t.Errorf("beyond the end of memory: %v", err)
	}
	unsorted := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 1<<32), 1<<32|0x7fff_0000)
	if _, err := Open(unsorted, 0x100000, binary.LittleEndian, nil); !errors.Is(err, ErrMalformed) {
		t.Errorf("not sorted: %v", err)
	}
}

// FuzzSection reads an index, and the tables that it leads to.
func FuzzSection(f *testing.F) {
	index, read := tables(binary.LittleEndian)
	memory := make([]byte, 28)
	read(0x2000, memory)
	f.Add(index, memory, uint16(0x1000))
	// All instructions (EHABI32, section 10.3), sixteen at a time.
	for of := 0; of < 256; of += 16 {
		var entries, codes []byte
		for i := range 16 {
			at := uint32(8 * i)
			entries = binary.LittleEndian.AppendUint32(entries, (0x100*uint32(i)-0x1000-at)&0x7fff_ffff)
			entries = binary.LittleEndian.AppendUint32(entries, (0x2000+8*uint32(i)-0x1000-at-4)&0x7fff_ffff)
			codes = binary.LittleEndian.AppendUint32(codes, 0x8101_0000|uint32(of+i)<<8|0x81)
			codes = binary.LittleEndian.AppendUint32(codes, 0x01b0_b0b0)
		}
		f.Add(entries, codes, uint16(0x1000))
	}
	f.Fuzz(func(t *testing.T, index, memory []byte, addr uint16) {
		bounds.Hold(t, 1<<20+8192*(len(index)+len(memory)), func() {
			s, err := Open(index, uint64(addr), binary.LittleEndian, func(at uint64, p []byte) (int, error) {
				if at < 0x2000 || at-0x2000 > uint64(len(memory)) {
					return 0, ErrNotFound
				}
				return copy(p, memory[at-0x2000:]), nil
			})
			if err != nil {
				return
			}
			looks := 0
			for e := range s.Entries() {
				if looks++; looks > 16 {
					break
				}
				found, err := s.Find(e.Lo)
				if err != nil || found.Lo != e.Lo {
					t.Errorf("%#x: %+v, %v", e.Lo, found, err)
				}
				if u, err := s.Unwind(e); err == nil {
					if row, err := u.Row(); err == nil {
						_ = row.Format(nil)
					}
				}
			}
		})
	})
}
