package guile

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// image is compiled code that Guile has loaded: an ELF file, all of it in memory.
type image struct {
	base, end  uint64
	text, size uint64 // of its code
	names      []name // by address
	rows       []row  // by address
}

type name struct {
	lo, hi uint64
	text   string
}

type row struct {
	addr uint64
	file string // "" where code ends
	line int
}

// Bounds of one image.
const (
	mostImage    = 64 << 20
	mostCode     = 16 << 20
	mostSections = 1 << 8
	mostSymbols  = 1 << 18
	mostRows     = 1 << 20
	mostTables   = 1 << 12  // of lines
	mostImages   = 1 << 12  // and places that have none
	mostTexts    = 64 << 20 // bytes of the names and files of all images
	mostEntries  = 1 << 21  // symbols and rows of all images
	page         = 4 << 10
)

// imageOf returns the image that has code at an address; nil if there is none, or it is broken.
func (r *runtime) imageOf(m *structs.Reader, addr uint64) *image {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, im := range r.images {
		if addr >= im.base && addr < im.end {
			return im
		}
	}
	for _, n := range r.none {
		if addr >= n.lo && addr < n.hi {
			return nil
		}
	}
	if len(r.images)+len(r.none) >= mostImages || r.left.texts < 0 || r.left.entries < 0 {
		r.full = true
		return nil
	}
	im, lowest := findImage(m, addr, &r.left)
	if im == nil {
		r.none = append(r.none, name{lo: lowest, hi: addr&^(page-1) + page})
		return nil
	}
	r.images = append(r.images, im)
	return im
}

// isFull reports whether images were left out.
func (r *runtime) isFull() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.full
}

// budget is what images may still have, all together.
type budget struct{ texts, entries int }

// findImage returns the image that has code at an address; else nil, and the lowest address that
// was looked at.
func findImage(m *structs.Reader, addr uint64, left *budget) (im *image, lowest uint64) {
	defer m.Err()
	base := addr &^ (page - 1)
	for ; base != 0 && addr-base < mostCode; base -= page {
		magic := m.Uint(base, 4)
		if !m.OK() {
			break
		}
		if magic != 0x464c457f { // "\x7fELF"
			continue
		}
		if im = readImage(m, base, left); im != nil && addr >= im.text && addr-im.text < im.size {
			return im, base
		}
		break
	}
	return nil, base
}

type section struct {
	name, kind   uint32
	at, offset   uint64
	size, linked uint64
}

// readImage reads the image at an address, nil if there is none. Guile maps whole files: a section
// is where it is in the file.
func readImage(m *structs.Reader, base uint64, left *budget) *image {
	var head [64]byte
	order := binary.LittleEndian
	if !m.Bytes(base, head[:]) || head[4] != 2 || order.Uint16(head[18:]) != 0 { // 64-bit, of no processor
		return nil
	}
	list, n, size := base+order.Uint64(head[40:]), int(order.Uint16(head[60:])), order.Uint16(head[58:])
	strings := int(order.Uint16(head[62:]))
	if n > mostSections || size != 64 || strings >= n {
		return nil
	}
	sections := make([]section, n)
	var b [64]byte
	for i := range sections {
		if !m.Bytes(list+64*uint64(i), b[:]) {
			return nil
		}
		s := section{order.Uint32(b[:]), order.Uint32(b[4:]), order.Uint64(b[16:]), order.Uint64(b[24:]), order.Uint64(b[32:]), uint64(order.Uint32(b[40:]))}
		if s.offset > mostImage || s.size > mostImage {
			return nil
		}
		sections[i] = s
	}
	im := &image{base: base}
	var symbols, text, lines *section
	for i := range sections {
		s := &sections[i]
		switch m.CString(base + sections[strings].offset + uint64(s.name)) {
		case ".rtl-text":
			text = s
		case ".symtab":
			symbols = s
		case ".debug_line":
			lines = s
		}
		im.end = max(im.end, base+s.offset+s.size)
	}
	if text == nil || m.Err() != nil {
		return nil
	}
	im.text, im.size = base+text.at, text.size
	if symbols != nil && symbols.linked < uint64(n) {
		im.readNames(m, symbols, &sections[symbols.linked], left)
	}
	if lines != nil {
		im.readLines(m, lines, left)
	}
	m.Err()
	return im
}

// readNames reads the table of symbols, whose values are offsets in the code.
func (im *image) readNames(m *structs.Reader, symbols, strings *section, left *budget) {
	var b [24]byte
	for i := range min(symbols.size/24, mostSymbols) {
		if left.entries--; left.entries < 0 || left.texts < 0 {
			break
		}
		if !m.Bytes(im.base+symbols.offset+24*i, b[:]) {
			break
		}
		lo := im.text + binary.LittleEndian.Uint64(b[8:])
		n := name{lo: lo, hi: lo + binary.LittleEndian.Uint64(b[16:])}
		if at := uint64(binary.LittleEndian.Uint32(b[:])); b[4]&0xf == 2 && at < strings.size { // STT_FUNC
			n.text = m.CString(im.base + strings.offset + at)
			left.texts -= len(n.text)
			im.names = append(im.names, n)
		}
	}
	slices.SortFunc(im.names, func(a, b name) int { return cmp.Compare(a.lo, b.lo) })
}

// readLines reads the tables of lines, whose addresses are offsets in the image.
func (im *image) readLines(m *structs.Reader, lines *section, left *budget) {
	data := make([]byte, lines.size)
	if !m.Bytes(im.base+lines.offset, data) {
		return
	}
	var l dwarf.Lines
	for range mostTables {
		size, err := dwarf.LineTableSize(data[:min(12, len(data))], m.Arch.Order, uint64(len(data)))
		if err != nil || size == 0 {
			break
		}
		table := data[:size]
		if l.Read(table, m.Arch.Order, 8) != nil {
			break
		}
		files := map[uint64]string{}
		for e := l.Next(); e != dwarf.LinesEnd && len(im.rows) < mostRows; e = l.Next() {
			if left.entries--; left.entries < 0 || left.texts < 0 {
				break
			}
			r := row{addr: im.base + l.Row.Addr}
			if e == dwarf.LineMade && l.Row.Line > 0 && l.Row.Line < 1<<31 {
				file, known := files[l.Row.File]
				if !known {
					file = fileName(&l, table)
					files[l.Row.File] = file
					left.texts -= len(file)
				}
				r.file, r.line = file, int(l.Row.Line)
			}
			im.rows = append(im.rows, r)
		}
		data = data[size:]
	}
	slices.SortStableFunc(im.rows, func(a, b row) int { return cmp.Compare(a.addr, b.addr) })
}

// fileName returns the name of the file of a row, in a table before DWARF 5.
func fileName(l *dwarf.Lines, table []byte) string {
	if l.Version >= 5 || l.Row.File >= uint64(len(l.Files)) {
		return ""
	}
	f := l.Files[l.Row.File]
	if f.Form != dwarf.FormString || f.Name >= uint64(len(table)) {
		return ""
	}
	text := table[f.Name:]
	if i := slices.Index(text[:min(len(text), structs.MostText)], 0); i >= 0 {
		return string(text[:i])
	}
	return ""
}

// nameOf returns the name of the procedure that has code at an address; ok is false if none has.
func (im *image) nameOf(addr uint64) (text string, ok bool) {
	i := sort.Search(len(im.names), func(i int) bool { return im.names[i].lo > addr }) - 1
	if i < 0 || addr >= im.names[i].hi {
		return "", false
	}
	return im.names[i].text, true
}

// placeOf returns the file and the line of code at an address.
func (im *image) placeOf(addr uint64) (file string, line int) {
	i := sort.Search(len(im.rows), func(i int) bool { return im.rows[i].addr > addr }) - 1
	if i < 0 {
		return "", 0
	}
	return im.rows[i].file, im.rows[i].line
}
