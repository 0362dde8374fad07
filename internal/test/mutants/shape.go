//go:build linux

package main

import "encoding/binary"

// field is a number that steers a reader: a count, a size, an offset, an address. It has 1, 2, 4 or
// 8 bytes.
type field struct{ at, size int }

// span is a part of a file.
type span struct{ at, size int }

// table is a list of n entries of equal size, which other parts of the file lead to.
type table struct {
	at, head, entry, n int   // the head is before the entries
	offset             field // has the place of the head; of size 0 if nothing has it
	bytes              field // has the size of the table
	count              field // has the number of entries
}

// shape is what a mutation must know of a file to be more than noise.
type shape struct {
	order   binary.ByteOrder
	fields  []field
	tables  []table
	records []span // one behind the other, each readable by itself
	regions []span // parts with bytes of all kinds
	text    bool   // the records are lines
}

// input is a file's bytes, for whoever finds its shape. Every offset may be wrong.
type input struct {
	data  []byte
	order binary.ByteOrder
}

// has reports whether n bytes are at an offset.
func (in *input) has(at, n int) bool { return at >= 0 && n >= 0 && at <= len(in.data)-n }

// get returns the number at an offset, or 0.
func (in *input) get(at, size int) int {
	if !in.has(at, size) {
		return 0
	}
	return int(number(in.order, in.data[at:at+size]))
}

// number returns the number that all of b is.
func number(order binary.ByteOrder, b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

// setNumber sets all of b to a number, as far as it fits.
func setNumber(order binary.ByteOrder, b []byte, v uint64) {
	switch len(b) {
	case 1:
		b[0] = byte(v)
	case 2:
		order.PutUint16(b, uint16(v))
	case 4:
		order.PutUint32(b, uint32(v))
	default:
		order.PutUint64(b, v)
	}
}

// words adds the numbers of a size from an offset on, as many as there are.
func (s *shape) words(in *input, at, size, n int) {
	for ; n > 0 && in.has(at, size); n-- {
		s.fields = append(s.fields, field{at, size})
		at += size
	}
}

// region adds a part of the file, if it is there.
func (s *shape) region(in *input, at, size int) {
	if size > 0 && in.has(at, size) {
		s.regions = append(s.regions, span{at, size})
	}
}

// shapeOf finds the shape of a file of one format.
type shapeOf func(data []byte) *shape

// anyShape is the shape of a file of which nothing is known.
func anyShape(data []byte) *shape {
	s, in := &shape{order: binary.LittleEndian}, &input{data, binary.LittleEndian}
	s.words(in, 0, 4, 64)
	s.region(in, 0, len(data))
	return s
}

// lines is the shape of a text.
func lines(data []byte) *shape {
	s := &shape{order: binary.LittleEndian, text: true}
	for at := 0; at < len(data); {
		n := 1
		for at+n < len(data) && data[at+n-1] != '\n' {
			n++
		}
		s.records = append(s.records, span{at, n})
		at += n
	}
	s.regions = []span{{0, len(data)}}
	return s
}
