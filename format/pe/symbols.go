package pe

import (
	"bytes"
	"cmp"
	"debug/pe"
	"encoding/binary"
	"slices"
	"sort"
)

// Symbol is the name of a function.
type Symbol struct {
	RVA  uint32
	Name string // as the linker has it
}

// Symbols are the functions of an image, ascending by RVA, one for each.
type Symbols struct{ list []Symbol }

// Bounds of what is read of an export table: functions, whose ordinals have 16 bits; bytes of a
// name, and of all names. Those of names hold for COFF symbols, too.
const (
	maxExports = 1 << 16
	maxName    = 4096
	maxNames   = 8 << 20
)

// recordSize is about what a name takes beside its text, bytes.
const recordSize = 64

// maxSymbols bounds the COFF symbols that are read, with the records of each that tell more.
const maxSymbols = 4 << 20

// readCOFF notes the functions among n COFF symbols at an offset of the file, which mingw's linker
// writes. Behind them are the names of more than eight bytes. What assemblers have made, such as
// ___chkstk_ms, has no type: it is a function if it is external, and in code.
func (im *Image) readCOFF(at int64, n uint32) {
	const size, typeFunction, classExternal = 18, 0x20, 2
	if at == 0 {
		return
	}
	texts := at + size*int64(n)
	long := map[uint32]string{} // by their offset: symbols may share a name
	left := maxNames
	part := make([]byte, size*1024)
	for skip := 0; n > 0 && n <= maxSymbols; {
		p := part[:size*min(n, 1024)]
		got, _ := im.source.ReadAt(p, at)
		at, n = at+int64(len(p)), n-uint32(len(p)/size)
		for p = p[:got-got%size]; len(p) > 0; p = p[size:] {
			if skip > 0 {
				skip--
				continue
			}
			skip = int(p[17])
			section := int(int16(binary.LittleEndian.Uint16(p[12:])))
			if section <= 0 || section > len(im.Sections) {
				continue
			}
			to := &im.coff
			switch kind := binary.LittleEndian.Uint16(p[14:]); {
			case kind == 0 && p[16] == classExternal && im.Sections[section-1].Code:
				to = &im.untyped
			case kind != typeFunction:
				continue
			}
			name := string(bytes.TrimRight(p[:8], "\x00"))
			if binary.LittleEndian.Uint32(p) == 0 {
				off := binary.LittleEndian.Uint32(p[4:])
				known := false
				if name, known = long[off]; !known && left > 0 {
					name = im.longName(texts + int64(off))
					long[off], left = name, left-len(name)-recordSize
				}
			}
			if name != "" {
				*to = append(*to, Symbol{im.Sections[section-1].RVA + binary.LittleEndian.Uint32(p[8:]), name})
			}
		}
		if got < len(part[:size]) {
			return
		}
	}
}

// longName returns the name at an offset of the file.
func (im *Image) longName(at int64) string {
	var b [maxName]byte
	n, _ := im.source.ReadAt(b[:], at)
	if end := bytes.IndexByte(b[:n], 0); end >= 0 {
		return string(b[:end])
	}
	return ""
}

// Symbols returns the functions that the image names: by its COFF symbols, and by its table of
// exports.
func (im *Image) Symbols() *Symbols {
	im.once.Do(func() {
		list := append(append(im.coff, im.exports()...), im.untyped...)
		im.coff, im.untyped = nil, nil
		slices.SortStableFunc(list, func(a, b Symbol) int { return cmp.Compare(a.RVA, b.RVA) })
		im.symbols = &Symbols{slices.CompactFunc(list, func(a, b Symbol) bool { return a.RVA == b.RVA })}
	})
	return im.symbols
}

// exports returns the exported functions that are code.
func (im *Image) exports() (list []Symbol) {
	const directory = 40
	rva, size := im.Directory(pe.IMAGE_DIRECTORY_ENTRY_EXPORT)
	var b [directory]byte
	if size < directory || im.ReadRVA(rva, b[:]) < directory {
		return nil
	}
	functions, names := binary.LittleEndian.Uint32(b[20:]), binary.LittleEndian.Uint32(b[24:])
	addresses := im.words(binary.LittleEndian.Uint32(b[28:]), 4, functions)
	texts := im.words(binary.LittleEndian.Uint32(b[32:]), 4, names)
	ordinals := im.words(binary.LittleEndian.Uint32(b[36:]), 2, names)
	left := maxNames
	for i := 0; 4*i+4 <= len(texts) && 2*i+2 <= len(ordinals) && left > 0; i++ {
		at := 4 * int(binary.LittleEndian.Uint16(ordinals[2*i:]))
		if at+4 > len(addresses) {
			continue
		}
		to := binary.LittleEndian.Uint32(addresses[at:])
		if s := im.Section(to); s == nil || !s.Code || to-rva < size { // data; or the name of another image's function
			continue
		}
		if name := im.text(binary.LittleEndian.Uint32(texts[4*i:])); name != "" {
			left -= len(name)
			list = append(list, Symbol{to, name})
		}
	}
	return list
}

// words reads an array of n numbers of size bytes, or as much of it as there is.
func (im *Image) words(rva uint32, size int, n uint32) []byte {
	b := make([]byte, size*int(min(n, maxExports, im.Size)))
	return b[:im.ReadRVA(rva, b)]
}

func (im *Image) text(rva uint32) string {
	if rva == 0 {
		return ""
	}
	var b [128]byte
	var name []byte
	for len(name) < maxName {
		n := im.ReadRVA(rva, b[:])
		if end := bytes.IndexByte(b[:n], 0); end >= 0 {
			return string(append(name, b[:end]...))
		}
		if n < len(b) {
			return ""
		}
		name, rva = append(name, b[:]...), rva+uint32(n)
	}
	return ""
}

// Find returns the symbol at rva, or the nearest before it; ok is false if there is none.
func (s *Symbols) Find(rva uint32) (symbol Symbol, ok bool) {
	i := sort.Search(len(s.list), func(i int) bool { return s.list[i].RVA > rva })
	if i == 0 {
		return Symbol{}, false
	}
	return s.list[i-1], true
}

// Len returns the number of functions.
func (s *Symbols) Len() int { return len(s.list) }
