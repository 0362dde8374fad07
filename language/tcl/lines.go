package tcl

// code is what is known of the places of a bytecode.
type code struct {
	start, bytes uint64
	text         uint64
	file         string // "" if it is of no file
	commands     []span
	lines        map[int]uint64 // by offset in the source: the address of the line
	at           map[int]int    // by offset of an instruction: the source's of its command; -1 for none
}

// span is the code of one command.
type span struct {
	start, end int // offsets of instructions
	source     int // offset in the source
}

const (
	mostCommands = 1 << 20 // of one bytecode
	mostInBucket = 1 << 10
)

// code returns what is known of a bytecode; nil if nothing is.
func (m *reader) code(at uint64) *code {
	c, known := m.codes[at]
	if !known {
		c = m.readCode(at)
		m.codes[at] = c
		m.Err()
	}
	return c
}

func (m *reader) readCode(at uint64) *code {
	places := m.places(at)
	if places == 0 {
		return nil
	}
	c := &code{start: m.Pointer(at + m.CodeStart), bytes: m.Uint(at+m.CodeBytes, int(m.Size)), text: m.Pointer(at + m.CodeSource), lines: map[int]uint64{}, at: map[int]int{}}
	if m.Uint(places+m.LinesType, 4) == m.TypeSource {
		c.file = m.file(m.Pointer(places + m.LinesPath))
	}
	count := m.Uint(places+m.LinesCount, int(m.Size))
	list := m.block(m.Pointer(places+m.LinesList), count, m.Line)
	for i := uint64(0); i < uint64(len(list)); i += m.Line {
		source := int(int32(m.Arch.Order.Uint32(list[i+m.LineSource:])))
		if _, known := c.lines[source]; !known {
			c.lines[source] = m.Arch.Order.Uint64(list[i+m.LineLine:])
		}
	}
	c.commands = m.spans(at)
	if !m.OK() {
		return nil
	}
	return c
}

// block reads an array; nothing if there may not be as much.
func (m *reader) block(at, count, size uint64) []byte {
	if count > mostCommands || count*size > uint64(max(0, m.budget.bytes)) {
		m.Fail("a table of lines is too long")
		return nil
	}
	list := make([]byte, count*size)
	m.budget.bytes -= len(list)
	if len(list) == 0 || !m.Bytes(at, list) {
		return nil
	}
	return list
}

// places returns the address of a bytecode's ExtCmdLoc; 0 if there is none.
func (m *reader) places(code uint64) uint64 {
	table := m.Pointer(m.interp + m.InterpLines)
	buckets, count := m.Pointer(table+m.TableBuckets), m.Uint(table+m.TableCount, int(m.TableCountSize))
	shift := m.Uint(table+m.TableShift, 4)
	if !m.OK() || count == 0 || count&(count-1) != 0 || shift >= 64 {
		return 0
	}
	// Tcl's own hash of an address. Releases differ in whether all of its bits count.
	for _, key := range []uint64{code & 0xffffffff, code} {
		entry := m.Pointer(buckets + 8*(key*1103515245>>shift&(count-1)))
		for range mostInBucket {
			if entry == 0 || !m.OK() {
				break
			}
			if m.Pointer(entry+m.EntryKey) == code {
				return m.Pointer(entry + m.EntryValue)
			}
			entry = m.Pointer(entry + m.EntryNext)
		}
	}
	return 0
}

// spans returns the commands of a bytecode, in the order of their code.
func (m *reader) spans(at uint64) (list []span) {
	count := m.Uint(at+m.CodeCommands, int(m.Size))
	deltas, lengths, sources, end := m.Pointer(at+m.CodeDeltas), m.Pointer(at+m.CodeLengths), m.Pointer(at+m.CodeSources), m.Pointer(at+m.CodeEnd)
	if count > mostCommands || deltas > lengths || lengths > sources || sources > end {
		m.Fail("the table of the commands of %#x makes no sense", at)
		return nil
	}
	table := m.block(deltas, end-deltas, 1)
	if !m.OK() || len(table) == 0 {
		return nil
	}
	starts, sizes, texts := numbers{m, table[:lengths-deltas]}, numbers{m, table[lengths-deltas : sources-deltas]}, numbers{m, table[sources-deltas:]}
	start, source := 0, 0
	for range count {
		if len(starts.b) == 0 || len(sizes.b) == 0 || len(texts.b) == 0 {
			m.Fail("the table of the commands of %#x ends early", at)
			return nil
		}
		start += starts.next()
		source += texts.next()
		list = append(list, span{start, start + sizes.next(), source})
	}
	return list
}

// numbers are numbers of one byte each, or of four behind the byte 0xff.
type numbers struct {
	m *reader
	b []byte
}

func (n *numbers) next() int {
	first := n.b[0]
	n.b = n.b[1:]
	if first != 0xff || len(n.b) < 4 {
		return int(int8(first))
	}
	b := n.b[:4]
	n.b = n.b[4:]
	return int(int32(uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])))
}

// line returns the line of the innermost command whose code has an instruction, or of the command
// whose text begins at an address; 0 if that is not known.
func (m *reader) line(c *code, pc, text uint64) int {
	source := 0
	switch {
	case text != 0:
		source = int(int64(text - c.text))
	case pc < c.start || pc-c.start >= c.bytes:
		return 0
	default:
		offset, known := int(pc-c.start), false
		if source, known = c.at[offset]; !known {
			source = m.sourceOf(c, offset)
			c.at[offset] = source
		}
	}
	at, ok := c.lines[source]
	if !ok || at == 0 {
		return 0
	}
	line := m.Int(at, int(m.Size))
	m.Err()
	return max(0, int(int32(line)))
}

// spansToRecord is how many spans of commands cost as much as a record.
const spansToRecord = 64

// sourceOf returns the offset in the source of the innermost command whose code has an instruction;
// -1 if there is none.
func (m *reader) sourceOf(c *code, offset int) (source int) {
	source, best := -1, 0
	if m.budget.records -= len(c.commands) / spansToRecord; m.budget.records < 0 {
		return source
	}
	for _, s := range c.commands {
		if s.start > offset {
			break
		}
		if offset < s.end && (source < 0 || offset-s.start <= best) {
			best, source = offset-s.start, s.source
		}
	}
	return source
}

// file returns the name of a file.
func (m *reader) file(value uint64) string {
	name, known := m.files[value]
	if !known {
		name = m.value(value)
		m.Err()
		m.files[value] = name
	}
	return name
}
