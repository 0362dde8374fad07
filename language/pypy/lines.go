package pypy

// Code objects tell which of their instructions belongs to which line. Up to Python 3.10 they have
// the differences of lines (co_lnotab); from 3.11 on, PyPy has a table of its own, with an entry
// for each instruction (pypy/interpreter/location.py).

// lineOf returns the line of the instruction at offset, bytes, 0 if that is not known. lines is
// what the code object has; table says that it is PyPy's own.
func lineOf(lines string, table bool, first int, offset int64) int {
	line := first
	switch {
	case offset < 0: // it has not begun
	case table:
		line = byTable(lines, first, offset/2)
	default:
		line = byDifferences(lines, first, offset)
	}
	if line < 1 || line > 1<<30 {
		return 0
	}
	return line
}

// byDifferences reads pairs of unsigned and signed bytes, by which offsets and lines grow.
func byDifferences(lines string, line int, offset int64) int {
	var at int64
	for i := 0; i+1 < len(lines); i += 2 {
		if at += int64(lines[i]); at > offset {
			break
		}
		line += int(int8(lines[i+1]))
	}
	return line
}

// byTable reads the table's entry of an instruction: by how much its line is larger than the one
// before the first, 0 for none; a column, 0 for none; the column where it ends, and how many lines
// further on.
func byTable(lines string, first int, instruction int64) int {
	i := 0
	for {
		delta, shift := 0, 0
		for ; ; i++ {
			if i >= len(lines) || shift > 28 {
				return 0
			}
			delta |= int(lines[i]&0x7f) << shift
			if shift += 7; lines[i] < 0x80 {
				break
			}
		}
		i++
		if delta > 0 {
			if i >= len(lines) {
				return 0
			}
			if lines[i] != 0 {
				i += 2
			}
			i++
		}
		switch {
		case instruction > 0:
			instruction--
		case delta == 0:
			return 0
		default:
			return first + delta - 1
		}
	}
}
