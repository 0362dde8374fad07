//go:build linux

package main

import "encoding/binary"

// elfShape is the shape of an ELF file: program, library, core or snapshot (System V gABI, chapters
// 4 and 5).
func elfShape(data []byte) *shape {
	in := &input{data, binary.LittleEndian}
	if !in.has(0, 52) {
		return anyShape(data)
	}
	if data[5] == 2 {
		in.order = binary.BigEndian
	}
	s := &shape{order: in.order}
	wide := data[4] == 2
	word := 4
	if wide {
		word = 8
	}
	s.words(in, 4, 1, 3)
	s.words(in, 16, 2, 2)
	s.words(in, 24, word, 3)
	halves := 24 + 3*word + 4
	s.words(in, halves, 2, 6)
	segments := field{24 + word, word}
	sections := field{24 + 2*word, word}
	s.tables = append(s.tables,
		table{at: in.get(segments.at, word), entry: in.get(halves+2, 2), n: in.get(halves+4, 2), offset: segments, count: field{halves + 4, 2}},
		table{at: in.get(sections.at, word), entry: in.get(halves+6, 2), n: in.get(halves+8, 2), offset: sections, count: field{halves + 8, 2}})
	s.segments(in, word)
	s.sections(in, word)
	return s
}

const mostEntries = 1 << 12 // that a shape knows of one table

func (s *shape) segments(in *input, word int) {
	t := s.tables[0]
	for i := range min(t.n, mostEntries) {
		at := t.at + i*t.entry
		if !in.has(at, 7*word) {
			return
		}
		s.words(in, at, 4, 2)
		offset, size := field{at + 4, 4}, field{at + 16, 4}
		if word == 8 {
			offset, size = field{at + 8, 8}, field{at + 32, 8}
		}
		s.words(in, offset.at, word, 6)
		lo, n := in.get(offset.at, word), in.get(size.at, word)
		s.region(in, lo, n)
		if in.get(at, 4) == 4 { // PT_NOTE
			s.notes(in, lo, lo+n)
			s.tables = append(s.tables, table{at: lo, entry: n, n: 1, offset: offset, bytes: size})
		}
	}
}

// notes adds the heads of notes and the words of their contents.
func (s *shape) notes(in *input, at, end int) {
	for n := 0; at+12 <= end && in.has(at, 12) && n < mostEntries; n++ {
		s.words(in, at, 4, 3)
		name, size := (in.get(at, 4)+3)&^3, (in.get(at+4, 4)+3)&^3
		at += 12 + name
		s.words(in, at, 8, min(size/8, 64))
		s.region(in, at, size)
		at += size
	}
}

func (s *shape) sections(in *input, word int) {
	t := s.tables[1]
	for i := range min(t.n, mostEntries) {
		at := t.at + i*t.entry
		if !in.has(at, 16+6*word) {
			return
		}
		s.words(in, at, 4, 2)
		s.words(in, at+8, word, 4)
		s.words(in, at+8+4*word, 4, 2)
		s.words(in, at+16+4*word, word, 2)
		offset, size := field{at + 8 + 2*word, word}, field{at + 8 + 3*word, word}
		lo, n, entry := in.get(offset.at, word), in.get(size.at, word), in.get(at+16+5*word, word)
		if kind := in.get(at+4, 4); kind == 0 || kind == 8 { // SHT_NULL, SHT_NOBITS
			continue
		} else if kind == 7 { // SHT_NOTE
			s.notes(in, lo, lo+n)
		}
		s.region(in, lo, n)
		if entry <= 0 || entry > n {
			entry = n
		}
		if entry > 0 && in.has(lo, n) {
			s.tables = append(s.tables, table{at: lo, entry: entry, n: n / entry, offset: offset, bytes: size})
			s.words(in, lo, 4, 16) // the heads of DWARF's units, of SFrame, of hash tables
		}
	}
}
