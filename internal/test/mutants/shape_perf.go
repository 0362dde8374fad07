//go:build linux

package main

import "encoding/binary"

// perfShape is the shape of what perf record writes, to a file or to a pipe
// (tools/perf/Documentation/perf.data-file-format.txt).
func perfShape(data []byte) *shape {
	in := &input{data, binary.LittleEndian}
	if in.has(0, 8) && data[0] == '2' {
		in.order = binary.BigEndian
	}
	s := &shape{order: in.order}
	if in.get(8, 8) == 16 {
		s.words(in, 0, 8, 2)
		s.perfRecords(in, 16, len(data))
		return s
	}
	s.words(in, 0, 8, 9)
	attributes, events := in.get(24, 8), in.get(40, 8)
	entry := max(in.get(16, 8), 1)
	s.tables = append(s.tables, table{at: attributes, entry: entry, n: in.get(32, 8) / entry, offset: field{24, 8}, bytes: field{32, 8}})
	s.words(in, attributes, 8, min(in.get(32, 8)/8, 64))
	end := events + in.get(48, 8)
	s.region(in, attributes, in.get(32, 8))
	s.region(in, events, in.get(48, 8))
	s.words(in, end, 8, 2*16) // the features
	for i := range 16 {
		at := end + 16*i
		lo, size := in.get(at, 8), in.get(at+8, 8)
		s.region(in, lo, size)
		s.words(in, lo, 4, min(size/4, 16))
		if size > 0 && in.has(lo, size) {
			s.tables = append(s.tables, table{at: lo, entry: size, n: 1, offset: field{at, 8}, bytes: field{at + 8, 8}})
		}
	}
	s.perfRecords(in, events, end)
	return s
}

func (s *shape) perfRecords(in *input, at, end int) {
	for at+8 <= end && in.has(at, 8) {
		size := in.get(at+6, 2)
		if size < 8 || !in.has(at, size) {
			return
		}
		s.words(in, at, 4, 1)
		s.words(in, at+4, 2, 2)
		s.words(in, at+8, 8, min(size/8-1, 24))
		s.records = append(s.records, span{at, size})
		at += size
	}
}

// jitdumpShape is the shape of a jitdump (tools/perf/Documentation/jitdump-specification.txt).
func jitdumpShape(data []byte) *shape {
	in := &input{data, binary.LittleEndian}
	if in.has(0, 4) && data[0] == 'J' {
		in.order = binary.BigEndian
	}
	s := &shape{order: in.order}
	s.words(in, 0, 4, 6)
	s.words(in, 24, 8, 2)
	for at := max(in.get(8, 4), 8); in.has(at, 16); {
		size := in.get(at+4, 4)
		if size < 16 || !in.has(at, size) {
			break
		}
		s.words(in, at, 4, 2)
		s.words(in, at+8, 8, 1)
		s.words(in, at+16, 4, 2)
		s.words(in, at+24, 8, min(size/8-3, 8))
		s.records = append(s.records, span{at, size})
		at += size
	}
	s.region(in, 0, len(data))
	return s
}
