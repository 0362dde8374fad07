//go:build linux

package main

import "encoding/binary"

// peShape is the shape of a PE file (Microsoft's PE Format).
func peShape(data []byte) *shape {
	in := &input{data, binary.LittleEndian}
	s := &shape{order: in.order}
	s.words(in, 0x3c, 4, 1)
	at := in.get(0x3c, 4)
	s.words(in, at, 4, 1)
	s.words(in, at+4, 2, 2)
	s.words(in, at+8, 4, 3)
	s.words(in, at+20, 2, 2)
	optional := in.get(at+20, 2)
	s.words(in, at+24, 4, optional/4)
	sections := at + 24 + optional
	n := in.get(at+6, 2)
	s.tables = append(s.tables, table{at: sections, entry: 40, n: n, count: field{at + 6, 2}},
		table{at: in.get(at+12, 4), entry: 18, n: in.get(at+16, 4), offset: field{at + 12, 4}, count: field{at + 16, 4}})
	s.region(in, in.get(at+12, 4), 18*in.get(at+16, 4))
	for i := range min(n, 96) {
		h := sections + 40*i
		s.words(in, h+8, 4, 6)
		lo, size := in.get(h+20, 4), in.get(h+16, 4)
		s.region(in, lo, size)
		s.words(in, lo, 4, min(size/4, 64))
		if size > 0 && in.has(lo, size) {
			s.tables = append(s.tables, table{at: lo, entry: size, n: 1, offset: field{h + 20, 4}, bytes: field{h + 16, 4}})
		}
	}
	return s
}
