//go:build linux

package main

import "encoding/binary"

// lists are the streams of a minidump that are lists: the size of what is before the entries, and
// of an entry (minidumpapiset.h).
var lists = map[int][2]int{
	3: {4, 48}, 4: {4, 108}, 5: {4, 16}, 8: {4, 64}, 9: {16, 16}, 12: {16, 32}, 14: {12, 24}, 16: {16, 48}, 17: {12, 64}, 24: {4, 12},
}

// minidumpShape is the shape of a minidump.
func minidumpShape(data []byte) *shape {
	in := &input{data, binary.LittleEndian}
	if in.get(0, 4) != 0x504d444d && in.has(0, 32) {
		in.order = binary.BigEndian
	}
	s := &shape{order: in.order}
	s.words(in, 0, 4, 8)
	directory := in.get(12, 4)
	streams := in.get(8, 4)
	s.tables = append(s.tables, table{at: directory, entry: 12, n: streams, offset: field{12, 4}, count: field{8, 4}})
	for i := range min(streams, mostEntries) {
		at := directory + 12*i
		if !in.has(at, 12) {
			break
		}
		s.words(in, at, 4, 3)
		kind, size, lo := in.get(at, 4), in.get(at+4, 4), in.get(at+8, 4)
		s.region(in, lo, size)
		t := table{at: lo, entry: max(size, 1), n: 1, offset: field{at + 8, 4}, bytes: field{at + 4, 4}}
		if form, ok := lists[kind]; ok {
			t.head, t.entry = form[0], form[1]
			if t.n = max(0, size-t.head) / t.entry; kind == 9 || kind == 16 {
				t.count = field{lo + t.head - 8, 8}
				if kind == 9 {
					t.count.at = lo
				}
			} else {
				t.count = field{lo + t.head - 4, 4}
				if kind == 12 {
					t.count.at = lo + 8
				}
			}
			s.words(in, lo, 4, t.head/4)
			for k := range min(t.n, 64) {
				s.words(in, lo+t.head+k*t.entry, 4, t.entry/4)
			}
		} else {
			s.words(in, lo, 4, min(size/4, 64))
		}
		s.tables = append(s.tables, t)
	}
	s.region(in, 0, len(data))
	return s
}
