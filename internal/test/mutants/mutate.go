//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// mostSize is the size of a mutant, bytes: what SECURITY.md promises holds for input below 1 MB.
const mostSize = 1_000_000

// mutant is a changed file. size is larger than the data if the rest is a hole.
type mutant struct {
	data []byte
	size int64
}

// mutator changes files of one format.
type mutator struct {
	*rand.Rand
	shape  shapeOf
	others [][]byte // further files of the format
	most   int      // bytes of a mutant
}

// mutate returns a file that has one change, or a few.
func (m *mutator) mutate(seed []byte) mutant {
	x := mutant{data: bytes.Clone(seed)}
	for range 1 + m.IntN(4) {
		s := m.shape(x.data)
		change := m.pick(s)
		change(m, s, &x)
		if len(x.data) > m.most {
			x.data = x.data[:m.most]
		}
	}
	return x
}

type change func(*mutator, *shape, *mutant)

// pick chooses a change that the shape allows.
func (m *mutator) pick(s *shape) change {
	list := []change{noise, noise, cut, splice, names, hole}
	if len(s.fields) > 0 {
		list = append(list, setField, setField, setField, setField, copyField, setFields)
	}
	if len(s.tables) > 0 {
		list = append(list, grow, grow, grow, point)
	}
	if len(s.records) > 0 {
		list = append(list, repeat, repeat, remove, swap)
	}
	if s.text && len(s.records) > 0 {
		list = append(list, setNumbers, setNumbers, setNumbers, setNumbers, longLine)
	}
	return list[m.IntN(len(list))]
}

func one[T any](m *mutator, list []T) T { return list[m.IntN(len(list))] }

// odd returns a number at which readers go wrong. old is the number that stands there.
func (m *mutator) odd(x *mutant, old uint64) uint64 {
	switch m.IntN(5) {
	case 0:
		return one(m, []uint64{0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0xfffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32, 1 << 47, 1<<63 - 1, 1 << 63, 1<<64 - 1})
	case 1:
		return old + one(m, []uint64{1, ^uint64(0), 8, ^uint64(7), 4096})
	case 2:
		return uint64(len(x.data)) + uint64(m.IntN(65)) - 32
	case 3:
		return old << m.IntN(40)
	}
	return m.Uint64() >> m.IntN(64)
}

func (x *mutant) number(s *shape, f field) uint64 { return number(s.order, x.data[f.at:f.at+f.size]) }

func (x *mutant) set(s *shape, f field, v uint64) {
	if f.size > 0 && f.at >= 0 && f.at+f.size <= len(x.data) {
		setNumber(s.order, x.data[f.at:f.at+f.size], v)
	}
}

func setField(m *mutator, s *shape, x *mutant) {
	f := one(m, s.fields)
	x.set(s, f, m.odd(x, x.number(s, f)))
}

// setFields sets many numbers in a row, as the entries of a table have them.
func setFields(m *mutator, s *shape, x *mutant) {
	at := m.IntN(len(s.fields))
	step := 1 + m.IntN(16)
	v := m.odd(x, x.number(s, s.fields[at]))
	more := uint64(m.IntN(3) * m.IntN(64))
	for ; at < len(s.fields); at += step {
		x.set(s, s.fields[at], v)
		v += more
	}
}

func copyField(m *mutator, s *shape, x *mutant) {
	x.set(s, one(m, s.fields), x.number(s, one(m, s.fields)))
}

// point has the offset of a table lead into another part of the file.
func point(m *mutator, s *shape, x *mutant) {
	t := one(m, s.tables)
	to := one(m, s.tables).at
	if len(s.fields) > 0 && m.IntN(2) == 0 {
		to = one(m, s.fields).at
	}
	x.set(s, t.offset, uint64(to))
	if m.IntN(2) == 0 {
		x.set(s, t.bytes, uint64(max(0, len(x.data)-to)))
	}
}

// grow puts a copy of a table at the end of the file, with many more entries.
func grow(m *mutator, s *shape, x *mutant) {
	t := one(m, s.tables)
	if t.offset.size == 0 || t.entry <= 0 || t.n <= 0 || t.n > m.most || t.at < 0 || t.at+t.head+t.entry*t.n > len(x.data) {
		return
	}
	room := (m.most - len(x.data) - t.head) / t.entry
	n := min(room, t.n<<m.IntN(16))
	if n <= 0 {
		return
	}
	for len(x.data)%8 != 0 {
		x.data = append(x.data, 0)
	}
	at := len(x.data)
	x.data = append(x.data, x.data[t.at:t.at+t.head]...)
	first, only := t.at+t.head, m.IntN(2) == 0
	chosen := m.IntN(t.n)
	for i := range n {
		k := i % t.n
		if only {
			k = chosen
		}
		x.data = append(x.data, x.data[first+k*t.entry:first+(k+1)*t.entry]...)
	}
	if w := min(4, t.entry); m.IntN(2) == 0 && (w == 4 || w == 2) { // one word of each counts
		place, step := m.IntN(t.entry-w+1), uint64(1)<<m.IntN(14)
		for i := range n {
			f := field{at + t.head + i*t.entry + place, w}
			x.set(s, f, x.number(s, f)+uint64(i)*step)
		}
	}
	x.set(s, t.offset, uint64(at))
	x.set(s, t.bytes, uint64(t.head+n*t.entry))
	count := t.count
	if count.at >= t.at && count.at < t.at+t.head {
		count.at += at - t.at
	}
	x.set(s, count, uint64(n))
}

// noise changes bytes of one part.
func noise(m *mutator, s *shape, x *mutant) {
	at, n := 0, len(x.data)
	if len(s.regions) > 0 {
		r := one(m, s.regions)
		at, n = r.at, r.size
	}
	if n == 0 || at+n > len(x.data) {
		return
	}
	for range 1 << m.IntN(6) {
		i := at + m.IntN(n)
		switch m.IntN(4) {
		case 0:
			x.data[i] ^= 1 << m.IntN(8)
		case 1:
			x.data[i] = one(m, []byte{0, 1, 0x7f, 0x80, 0xff})
		case 2:
			x.data[i]++
		default:
			x.data[i] = byte(m.Uint32())
		}
	}
}

func cut(m *mutator, s *shape, x *mutant) {
	if len(x.data) > 1 && m.IntN(4) == 0 {
		x.data = x.data[:1+m.IntN(len(x.data)-1)]
	}
}

// splice puts a piece of a file of the format over a part of this one.
func splice(m *mutator, s *shape, x *mutant) {
	from := x.data
	if len(m.others) > 0 {
		from = one(m, m.others)
	}
	if len(from) == 0 || len(x.data) == 0 {
		return
	}
	lo := m.IntN(len(from))
	piece := bytes.Clone(from[lo:min(len(from), lo+1<<m.IntN(12))])
	copy(x.data[m.IntN(len(x.data))&^3:], piece)
}

// odds are texts that steer terminals, break lines or quotes.
var odds = []string{"\x1b[31m", "\x1b]0;x\a", "\u009b31m", "\u202e", "\ufeff", "\u2028", "\x7f", "\U000e0041", "\n", "\r", "\t", "\xff\xfe", "</script><script>", "\"';`$(x)", "%s%n", "\\", "../../", "[anon]", ";"}

// names puts such a text over others.
func names(m *mutator, s *shape, x *mutant) {
	var words []span
	for at := 0; at < len(x.data); at++ {
		n := 0
		for at+n < len(x.data) && x.data[at+n] >= 0x20 && x.data[at+n] < 0x7f {
			n++
		}
		if n >= 4 {
			words = append(words, span{at, n})
		}
		at += n
	}
	if len(words) == 0 {
		return
	}
	for range 1 + m.IntN(8) {
		w := one(m, words)
		copy(x.data[w.at+m.IntN(w.size):w.at+w.size], one(m, odds))
	}
}

// hole adds a hole of up to a tebibyte to the end, and has a number lead there, or count it.
func hole(m *mutator, s *shape, x *mutant) {
	if m.IntN(2) == 0 {
		return
	}
	end := int64(len(x.data))
	x.size = end + 1<<(20+m.IntN(21))
	if len(s.tables) > 0 && m.IntN(4) != 0 {
		t := one(m, s.tables)
		if m.IntN(2) == 0 {
			x.set(s, t.offset, uint64(end))
		}
		x.set(s, t.bytes, uint64(x.size-end))
		x.set(s, t.count, uint64((x.size-end)/int64(max(t.entry, 1))))
	} else if len(s.fields) > 0 {
		x.set(s, one(m, s.fields), uint64(x.size-end))
	}
}

// repeat has a record come again and again.
func repeat(m *mutator, s *shape, x *mutant) {
	i := m.IntN(len(s.records))
	lo := s.records[i].at
	last := s.records[min(len(s.records)-1, i+m.IntN(4))]
	piece := bytes.Clone(x.data[lo : last.at+last.size])
	n := min(1<<m.IntN(17), (m.most-len(x.data))/max(len(piece), 1))
	if n <= 0 {
		return
	}
	many := bytes.Repeat(piece, n)
	if s.text {
		many = numbered(m, piece, n)
	} else if len(piece) >= 16 && m.IntN(2) == 0 { // one word of each counts
		place, step := 8+m.IntN(len(piece)-15), uint64(1)<<m.IntN(14)
		for k := range n {
			word := many[k*len(piece)+place:][:8]
			setNumber(s.order, word, number(s.order, word)+uint64(k)*step)
		}
	}
	x.data = slices.Insert(x.data, lo, many...)
}

// numbered returns a line n times, or fewer, in each of which a number is larger.
func numbered(m *mutator, line []byte, n int) (all []byte) {
	words := numbersOf(line)
	if len(words) == 0 || m.IntN(4) == 0 {
		return bytes.Repeat(line, n)
	}
	w, step := one(m, words), uint64(m.IntN(17))
	first, _ := strconv.ParseUint(string(line[w.at:w.at+w.size]), 16, 64)
	for i := range n {
		if all = fmt.Appendf(all, "%s%x%s", line[:w.at], first+uint64(i)*step, line[w.at+w.size:]); len(all) > m.most {
			break
		}
	}
	return all
}

// numbersOf finds the words of a text that are hexadecimal numbers.
func numbersOf(text []byte) (words []span) {
	for at := 0; at < len(text); at++ {
		n := 0
		for at+n < len(text) && bytes.IndexByte([]byte("0123456789abcdef"), text[at+n]) >= 0 {
			n++
		}
		if n > 0 && (at == 0 || text[at-1] == ' ') {
			words = append(words, span{at, n})
		}
		at += n
	}
	return words
}

// setNumbers changes a number of a text.
func setNumbers(m *mutator, s *shape, x *mutant) {
	for range 1 + m.IntN(4) {
		r := one(m, s.records)
		if r.at+r.size > len(x.data) {
			return
		}
		words := numbersOf(x.data[r.at : r.at+r.size])
		if len(words) == 0 {
			continue
		}
		w := one(m, words)
		old, _ := strconv.ParseUint(string(x.data[r.at+w.at:r.at+w.at+w.size]), 16, 64)
		text := strconv.FormatUint(m.odd(x, old), 16)
		if m.IntN(16) == 0 {
			text = "-" + text
		}
		x.data = slices.Replace(x.data, r.at+w.at, r.at+w.at+w.size, []byte(text)...)
		s = m.shape(x.data)
	}
}

// longLine has a word of a line be very long, or come very often.
func longLine(m *mutator, s *shape, x *mutant) {
	r := one(m, s.records)
	at := r.at + m.IntN(r.size)
	piece := bytes.Clone(x.data[at : r.at+r.size])
	piece = bytes.TrimRight(piece[:min(len(piece), 1+m.IntN(16))], "\n")
	n := min(1<<m.IntN(18), (m.most-len(x.data))/max(len(piece), 1))
	x.data = slices.Insert(x.data, at, bytes.Repeat(piece, max(n, 0))...)
}

func remove(m *mutator, s *shape, x *mutant) {
	r := one(m, s.records)
	x.data = slices.Delete(x.data, r.at, r.at+r.size)
}

// swap exchanges two records.
func swap(m *mutator, s *shape, x *mutant) {
	a, b := one(m, s.records), one(m, s.records)
	if a.at > b.at {
		a, b = b, a
	}
	if a.at+a.size > b.at {
		return
	}
	x.data = bytes.Join([][]byte{x.data[:a.at], x.data[b.at : b.at+b.size], x.data[a.at+a.size : b.at], x.data[a.at : a.at+a.size], x.data[b.at+b.size:]}, nil)
}
