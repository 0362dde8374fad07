package dwarf

import (
	"bytes"
	"encoding/binary"
)

// Reader reads values one after the other, in place. A read past the end of Data sets Bad, which
// stays set, and gives zero: a run of reads needs one check at its end.
type Reader struct {
	Data []byte
	Off  int  // of the next value in Data; never beyond len(Data)
	Big  bool // numbers of fixed size are big-endian
	Bad  bool // a value was cut off by the end of Data, or malformed
	// Overflow says that a LEB128 number did not fit in 64 bits, or was padded to more than 16
	// bytes. Bad is set as well.
	Overflow bool
}

// New returns a reader of all data. A nil order serves where there are no numbers of fixed size.
func New(data []byte, order binary.ByteOrder) Reader {
	return Reader{Data: data, Big: order == binary.BigEndian}
}

// More reports whether there is something left to read.
func (r *Reader) More() bool { return r.Off < len(r.Data) && !r.Bad }

// Left returns how many bytes are left to read.
func (r *Reader) Left() uint64 { return uint64(len(r.Data) - r.Off) }

// Take returns the next n bytes, nil where there are fewer.
func (r *Reader) Take(n uint64) []byte {
	if uint64(len(r.Data)-r.Off) < n {
		r.Bad = true
		return nil
	}
	b := r.Data[r.Off : r.Off+int(n)]
	r.Off += int(n)
	return b
}

// U8 reads a byte.
func (r *Reader) U8() uint8 {
	if r.Off >= len(r.Data) {
		r.Bad = true
		return 0
	}
	v := r.Data[r.Off]
	r.Off++
	return v
}

// U16 reads an unsigned number of two bytes.
func (r *Reader) U16() uint16 {
	b := r.Take(2)
	switch {
	case b == nil:
		return 0
	case r.Big:
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

// U32 reads an unsigned number of four bytes.
func (r *Reader) U32() uint32 {
	b := r.Take(4)
	switch {
	case b == nil:
		return 0
	case r.Big:
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// U64 reads an unsigned number of eight bytes.
func (r *Reader) U64() uint64 {
	b := r.Take(8)
	switch {
	case b == nil:
		return 0
	case r.Big:
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// u24 reads an unsigned number of three bytes (DW_FORM_strx3, DW_FORM_addrx3).
func (r *Reader) u24() uint64 {
	b := r.Take(3)
	switch {
	case b == nil:
		return 0
	case r.Big:
		return uint64(b[0])<<16 | uint64(b[1])<<8 | uint64(b[2])
	}
	return uint64(b[2])<<16 | uint64(b[1])<<8 | uint64(b[0])
}

// Uint reads an unsigned number of 1, 2, 3, 4 or 8 bytes.
func (r *Reader) Uint(size int) uint64 {
	switch size {
	case 1:
		return uint64(r.U8())
	case 2:
		return uint64(r.U16())
	case 3:
		return r.u24()
	case 4:
		return uint64(r.U32())
	}
	return r.U64()
}

// CString returns the bytes up to a zero byte, which is among the next limit bytes, and steps
// over it.
func (r *Reader) CString(limit int) []byte {
	i := bytes.IndexByte(r.Data[r.Off:min(len(r.Data), r.Off+limit)], 0)
	if i < 0 {
		r.Bad = true
		return nil
	}
	s := r.Data[r.Off : r.Off+i]
	r.Off += i + 1
	return s
}

// String reads up to a zero byte, and steps over it.
func (r *Reader) String() string { return string(r.CString(len(r.Data))) }

// UnitLength reads the initial length of a unit (DWARF 5, section 7.4): how many bytes of the unit
// follow, and the size of the offsets in it: 4 or 8 bytes.
func (r *Reader) UnitLength() (n uint64, offsetSize int) {
	if n = uint64(r.U32()); n == 0xffffffff {
		return r.U64(), 8
	}
	return n, 4
}
