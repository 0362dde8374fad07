package cfi

import (
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/pages"
)

// header is the binary search table of .eh_frame_hdr (LSB Core, "Exception Frame
// Header"). Look-ups search it in place, and believe it only as far as the FDEs confirm it.
type header struct {
	pages  *pages.Bytes
	paged  bool   // table is nil: pages reads it as it is needed
	at     int    // offset of table in the header
	table  []byte // the entries: start of code, address of FDE
	addr   uint64 // of table
	base   uint64 // address that both fields are relative to, unless pcrel
	count  int    // 0: there is no table
	size   uint8  // bytes of one field
	signed bool
	pcrel  bool // a field is relative to its own address

	sorted sync.Once   // checks the order, at the first miss
	lies   atomic.Bool // the table was found to be wrong
}

// open finds the table in data. A header without a usable table counts as none.
func (h *header) open(bytes *pages.Bytes, addr uint64, s *Section) {
	const most = 64 // bytes before the table, and more
	data, _ := bytes.View(0, min(most, bytes.Len()))
	c := reader{Reader: dwarf.Reader{Data: data, Big: s.big}}
	version, ptrEnc, countEnc, tableEnc := c.U8(), c.U8(), c.U8(), c.U8()
	if c.Bad || version != 1 || countEnc == encOmit || tableEnc == encOmit {
		return
	}
	// Pointers in the header are relative to the header itself (datarel).
	at := Section{addr: addr, textBase: s.textBase, dataBase: addr}
	if ptrEnc != encOmit && at.skipPointer(&c, ptrEnc, s.ptrSize) != "" {
		return
	}
	count, why := at.pointer(&c, countEnc, s.ptrSize, 0, false)
	h.size = encSize(tableEnc, s.ptrSize)
	if why != "" || h.size == 0 || count > uint64(bytes.Len()-c.Off)/(2*uint64(h.size)) {
		return
	}
	switch tableEnc &^ encFormat {
	case 0:
	case encPCrel:
		h.pcrel = true
	case encDatarel:
		h.base = addr
	case encTextrel:
		h.base = s.textBase
	default:
		return
	}
	h.signed = tableEnc&encSigned != 0
	h.pages, h.paged, h.at = bytes, bytes.Paged(), c.Off
	h.addr, h.count = addr+uint64(c.Off), int(count)
	if !h.paged {
		h.table, _ = bytes.View(c.Off, bytes.Len())
	}
}

// field reads field i of the table; it is 0 if the file cannot be read. Each entry has two fields.
func (s *Section) field(i int) uint64 {
	h := &s.header
	off := i * int(h.size)
	if !h.paged {
		if b := h.table[off:]; h.size == 4 && !s.big && h.signed && !h.pcrel && s.ptrSize == 8 { // nearly all are
			return h.base + uint64(int32(binary.LittleEndian.Uint32(b)))
		}
		return s.value(h.table[off:], off)
	}
	b, ok := h.pages.View(h.at+off, h.at+off+int(h.size))
	if !ok {
		return 0
	}
	return s.value(b, off)
}

// value is the value of a field, b, at an offset in the table.
func (s *Section) value(b []byte, off int) uint64 {
	h := &s.header
	var v uint64
	switch {
	case h.size == 4 && !s.big:
		v = uint64(binary.LittleEndian.Uint32(b))
	case h.size == 4:
		v = uint64(binary.BigEndian.Uint32(b))
	default:
		c := dwarf.Reader{Data: b, Big: s.big}
		v = c.Uint(int(h.size))
	}
	if h.signed {
		v = signExtend(v, h.size)
	}
	base := h.base
	if h.pcrel {
		base = h.addr + uint64(off)
	}
	return (base + v) & addressMask(s.ptrSize)
}

// answer is the result of a look-up in the header's table.
type answer uint8

const (
	found  answer = iota
	missed        // no FDE covers the PC
	silent        // the table cannot tell; the index can
	lied          // the table is wrong
)

func (s *Section) searchHeader(pc uint64, f *FDE) answer {
	i, ok := s.positionUsual(pc)
	if !ok {
		i, ok = s.position(pc)
	}
	if !ok {
		return lied
	}
	if i > 0 {
		switch {
		case !s.entryFDE(i-1, f):
			return lied
		case f.Contains(pc):
			return found
		case f.Len == 0:
			return silent // other FDEs may start here, too
		}
	}
	// The FDE itself confirms a hit. A miss counts if the next FDE begins where the
	// table says, and the table is in order.
	if i < s.header.count && !s.entryFDE(i, f) || !s.inOrder() {
		return lied
	}
	return missed
}

// position returns the number of entries that start at or before pc. ok is false
// if it finds entries out of order.
func (s *Section) position(pc uint64) (i int, ok bool) {
	low, high := uint64(0), addressMask(s.ptrSize) // bounds of the fields between the fields that were read
	j := s.header.count
	for i < j {
		mid := int(uint(i+j) / 2)
		key := s.field(2 * mid)
		if key < low || key > high {
			return 0, false
		}
		if key <= pc {
			i, low = mid+1, key
		} else {
			j, high = mid, key
		}
	}
	return i, true
}

// positionUsual is position for the form that all linkers write: signed four-byte distances from
// the header, little-endian. It compares the distances without computing addresses. ok is false
// for any other form, and if only position can tell.
func (s *Section) positionUsual(pc uint64) (i int, ok bool) {
	h := &s.header
	to := int64(pc - h.base)
	if h.size != 4 || !h.signed || h.pcrel || s.big || s.ptrSize != 8 || h.base > math.MaxInt64/2 || pc > math.MaxInt64/2 {
		return 0, false
	}
	low, high := max(-int64(h.base), math.MinInt32), int64(math.MaxInt32)
	j := h.count
	if h.paged {
		return 0, false
	}
	table := h.table[:8*j]
	for i < j {
		mid := int(uint(i+j) / 2)
		key := int64(int32(binary.LittleEndian.Uint32(table[8*mid:])))
		if key < low || key > high {
			return 0, false
		}
		if key <= to {
			i, low = mid+1, key
		} else {
			j, high = mid, key
		}
	}
	return i, true
}

// entryFDE reads the FDE of entry i into f, and reports whether it starts where the
// entry says.
func (s *Section) entryFDE(i int, f *FDE) bool {
	off := s.field(2*i+1) - s.addr
	if off >= uint64(s.size) {
		return false
	}
	e, err := s.entryAt(int(off))
	return err == nil && s.parseFDE(e, f, false) == nil && f.Start == s.field(2*i)
}

// inOrder reports whether the table is sorted. Only the first call reads the table.
func (s *Section) inOrder() bool {
	h := &s.header
	h.sorted.Do(func() {
		if !s.ascends() {
			h.lies.Store(true)
		}
	})
	return !h.lies.Load()
}

func (s *Section) ascends() bool {
	h := &s.header
	var buf []byte
	if h.paged {
		buf = make([]byte, window)
	}
	last, each := uint64(0), 2*int(h.size)
	for off, end := 0, h.count*each; off < end; {
		b, err := h.pages.Window(h.at+off, buf)
		if err != nil {
			return false
		}
		b = b[:min(len(b), end-off)/each*each]
		if len(b) == 0 {
			return false
		}
		for ; len(b) > 0; b, off = b[each:], off+each {
			key := s.value(b, off)
			if key < last {
				return false
			}
			last = key
		}
	}
	return true
}
