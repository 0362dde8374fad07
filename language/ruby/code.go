package ruby

import (
	"math/bits"
	"strconv"
	"strings"
)

// code is what is known of an instruction sequence: the code of a method, a block, a file.
type code struct {
	at, body, kind uint64
	file           string
	instructions   uint64 // where they begin
	count          uint64 // words
	internal       bool   // Ruby's own, which is written as C's functions are from 3.4 on
}

// code returns what is known of the instruction sequence at an address.
func (m *memory) code(at uint64) code {
	c, known := m.codes[at]
	if known {
		return c
	}
	body := m.Pointer(at + m.iseqBody)
	c = code{
		at: at, body: body, kind: m.Uint(body+m.bodyType, 4),
		instructions: m.Pointer(body + m.bodyCode), count: m.Uint(body+m.bodySize, 4),
	}
	path := m.Pointer(body + m.bodyPath)
	if !m.isOf(path, m.typeString) {
		path = m.element(path, 0) // and its real path
	}
	c.file, _ = m.text(path)
	switch {
	case m.atLeast(4, 0):
		c.internal = strings.HasPrefix(c.file, "<internal:")
	case m.bodyAttributes != absent && m.attributeCTrace != absent:
		c.internal = m.Uint(body+m.bodyAttributes, 4)&m.attributeCTrace != 0
	}
	m.codes[at] = c
	return c
}

// label returns what the code writes itself as: "block in bar", "<main>".
func (m *memory) label(c *code) string {
	text, _ := m.text(m.Pointer(c.body + m.bodyLabel))
	return text
}

// function returns what Ruby's own traces call code, with the class of the method that has it,
// whose entry is given; 0 for none. Up to 3.3 Ruby itself leaves out the class.
func (m *memory) function(c *code, method uint64) string {
	owner := m.owner(method)
	if !m.atLeast(3, 4) {
		label := m.label(c)
		local := m.code(m.Pointer(c.body + m.bodyLocal))
		if local.kind != m.iseqMethod {
			return label
		}
		name := m.label(&local)
		prefix, ok := strings.CutSuffix(label, name)
		if !ok || prefix != "" && !strings.HasSuffix(prefix, " in ") {
			return label
		}
		return prefix + m.method(owner, name)
	}
	prefix, of := "", *c
	for range mostNested {
		switch of.kind {
		case m.iseqRescue, m.iseqEnsure, m.iseqEval:
			of = m.code(m.Pointer(of.body + m.bodyParent))
		case m.iseqMethod:
			return prefix + m.method(owner, m.label(&of))
		default:
			levels, outer := m.levels(of)
			if outer.at == of.at {
				return prefix + m.label(&of)
			}
			if levels <= 1 {
				prefix += "block in "
			} else {
				prefix += "block (" + strconv.Itoa(levels) + " levels) in "
			}
			of = outer
		}
		if !m.step() {
			break
		}
	}
	return prefix
}

// line returns the line of the place in code that a control frame's PC leads to, 0 if that is not
// known. The PC is of the instruction that is next.
func (m *memory) line(c *code, pc uint64) int {
	if pc == 0 {
		return int(int32(m.firstLine(c)))
	}
	at := (pc - c.instructions) / 8
	if at > c.count || (pc-c.instructions)%8 != 0 {
		return 0
	}
	if at > 0 {
		at--
	}
	infos, n := m.Pointer(c.body+m.bodyInfos), m.Uint(c.body+m.bodyInfoCount, 4)
	i := uint64(0)
	switch {
	case n == 0:
		return 0
	case n > 1:
		i = m.rank(m.Pointer(c.body+m.bodyInfoIndex), at) - 1
		if i >= n {
			return 0
		}
	}
	return int(m.Int(infos+i*m.infoSize+m.infoLine, 4))
}

func (m *memory) firstLine(c *code) int64 {
	v := m.Int(c.body+m.bodyFirstLine, int(m.firstLineSize))
	if m.firstLineSize == 8 {
		v >>= 1 // a number object
	}
	return v
}

// rank returns how many of the positions in a table are at most at (iseq.c's succ_index_table). The
// first positions have their ranks, 7 bits each, 9 in a word. Each block of the others has a rank,
// 7 more of its words, 9 bits each, and the words, with a bit for each position.
func (m *memory) rank(table, at uint64) uint64 {
	const (
		ranked, inWord = 54, 9
		inBlock, block = 512, 8 + 8 + 512/8
	)
	if at < ranked {
		return m.Pointer(table+at/inWord*8) >> (at % inWord * 7) & 0x7f
	}
	at -= ranked
	b := table + ranked/inWord*8 + at/inBlock*block
	at %= inBlock
	rank, word := m.Uint(b, 4), at/64
	if word > 0 {
		rank += m.Pointer(b+8) >> ((word - 1) * 9) & 0x1ff
	}
	return rank + uint64(bits.OnesCount64(m.Pointer(b+16+word*8)<<(63-at%64)))
}

// levels returns how many blocks lie between code and what it is local to, and that.
func (m *memory) levels(c code) (n int, outer code) {
	local := m.Pointer(c.body + m.bodyLocal)
	if m.Pointer(c.body+m.bodyParent) == 0 {
		return 0, c
	}
	for c.at != local && n < mostNested && m.step() {
		if c.kind == m.iseqBlock {
			n++
		}
		c = m.code(m.Pointer(c.body + m.bodyParent))
	}
	return n, c
}
