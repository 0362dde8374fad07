package lua

import "sort"

// mostCode bounds the instructions of one function.
const mostCode = 1 << 24

// lineOf returns the line of an instruction of a function, whose successor is at pc; 0 if that is
// not known.
func (r *runtime) lineOf(m reader, proto, pc uint64) int {
	code, size := m.Pointer(proto+m.ProtoCode), m.Uint(proto+m.ProtoSize, 4)
	lines, known := m.Pointer(proto+m.ProtoLines), m.Uint(proto+m.ProtoLinesSize, 4)
	if pc == code && code != 0 { // it has just been called
		return max(int(m.Int(proto+m.ProtoLine, 4)), 0)
	}
	index := (pc-code)/4 - 1
	if m.Err() != nil || pc <= code || index >= size || size > mostCode || lines == 0 || index >= known {
		return 0
	}
	line := 0
	if m.ProtoAbsolute == absent {
		line = int(m.Int(lines+4*index, 4))
	} else {
		line = r.sumOfLines(m, proto, lines, index)
	}
	if m.Err() != nil || line < 0 {
		return 0
	}
	return line
}

// sumOfLines returns the line of an instruction from 5.4 on. Each instruction has the difference
// to the line before, and some have a line.
func (r *runtime) sumOfLines(m reader, proto, lines, index uint64) int {
	const record = 8 // an index and a line, of four bytes each
	absolute, n := m.Pointer(proto+m.ProtoAbsolute), m.Uint(proto+m.ProtoAbsoluteSize, 4)
	line, from := int(m.Int(proto+m.ProtoLine, 4)), uint64(0)
	if m.OK() && n <= mostCode && absolute != 0 {
		i := sort.Search(int(n), func(i int) bool { return m.Uint(absolute+record*uint64(i), 4) > index }) - 1
		if i >= 0 {
			at := absolute + record*uint64(i)
			line, from = int(m.Int(at+4, 4)), m.Uint(at, 4)+1
		}
	}
	var differences [256]byte
	for at := from; at <= index && m.OK(); at += uint64(len(differences)) {
		part := differences[:min(index+1-at, uint64(len(differences)))]
		m.Bytes(lines+at, part)
		for _, d := range part {
			line += int(int8(d))
		}
		if at-from > mostDifferences {
			return 0
		}
	}
	return line
}

// mostDifferences bounds what is summed: Lua notes a line each 128 instructions.
const mostDifferences = 1 << 12
