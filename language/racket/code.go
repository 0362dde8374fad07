package racket

// Offsets in a code object, bytes, the same in all releases that are known.
const (
	codeLength = 8
	codeReloc  = 16
	codeName   = 24
	codeInfo   = 48
	codeText   = 64 // the machine code
)

// code is a code object: a procedure.
type code struct {
	start, lo, hi uint64 // where the object begins, and its machine code begins and ends
	name, info    uint64 // objects
	system        bool   // Chez Scheme itself has it
}

// mostCode bounds how large a code object is, bytes.
const mostCode = 4 << 20

// codeAt returns the code object that begins at an address; ok is false if there is none.
func (r *reader) codeAt(start uint64) (c code, ok bool) {
	defer func() { ok = r.Err() == nil && ok }()
	if start%16 != 0 || start < 1<<12 || !r.spend(codeText/word) {
		return c, false
	}
	at, ok := r.codeBegin(start)
	if !ok {
		return c, false
	}
	// The machine code stays where it was when the object is moved.
	n := r.Pointer(at + codeLength)
	c = code{start: start, lo: start + codeText, hi: start + codeText + n, name: r.Pointer(at + codeName), info: r.Pointer(at + codeInfo), system: r.Pointer(at)&systemFlag != 0}
	reloc := r.Pointer(at + codeReloc)
	if n == 0 || n > mostCode || c.name&tags != typedTag && c.name&tags != symbolTag && c.name > 0xff {
		return c, false
	}
	// What is in the boot files has no relocations any more.
	if reloc%word != 0 || reloc != 0 && reloc < 1<<12 {
		return c, false
	}
	return c, true
}

// codeBegin returns where the code object begins that is at start, or was there: its machine code
// stays. ok is false if there is none.
func (r *reader) codeBegin(start uint64) (at uint64, ok bool) {
	first, second := r.Pointer(start), r.Pointer(start+word)
	if first == moved || first == movedOld {
		// It may be the first word of code of another release.
		if at = second&^tags + word; second&tags == typedTag && second > 1<<12 && isCode(r.Pointer(at)) {
			return at, r.OK()
		}
		r.Err()
	}
	return start, isCode(first)
}

// isCode reports whether the first word of an object says that it is a code object.
func isCode(kind uint64) bool {
	return (kind&0xff == codeKind || kind&0xff == codeKindOld) && kind < mostKind
}

// blockSize is how much memory codeOf reads at once, bytes.
const blockSize = 4 << 10

// codeOf returns the code object that has the machine code at pc; ok is false if there is none.
// Nothing leads from code to the beginning of its object: memory before pc is looked through.
func (r *reader) codeOf(pc uint64) (c code, ok bool) {
	var b [blockSize]byte
	lo := pc - min(pc, mostCode)
	for hi := pc&^15 + 16; hi > lo && r.spend(blockSize/word); {
		from := max((hi-1)&^(blockSize-1), lo&^15)
		p := b[:hi-from]
		if n, _ := r.Memory().ReadMemory(from, p); n < len(p) {
			return c, false
		}
		for at := len(p) - 16; at >= 0; at -= 16 {
			if p[at] != codeKind && p[at] != moved && p[at] != movedOld {
				continue
			}
			if c, ok = r.codeAt(from + uint64(at)); ok && pc >= c.lo && pc < c.hi {
				return c, true
			}
		}
		hi = from
	}
	return c, false
}

// header is what the code says before an address at which a procedure goes on.
type header struct {
	code code
	size uint64 // of its frame, bytes
}

// mostFrame bounds the size of a frame, bytes.
const mostFrame = 1 << 24

// headers says how far before the address the distance to the code object is (toplink), and the
// size, bytes.
var headers = []struct {
	link, size uint64
	compact    bool
}{
	{16, 8, true},   // Chez Scheme 10, Racket 8.16 and later, and the short form of 8.7
	{32, 8, false},  // Racket 8.7
	{24, 16, false}, // Chez Scheme 9.5
}

// headerAt returns what is said before ra; ok is false if that is no such address.
//
// The last word before it is the size, or, where few values live, a mask of these and the size, and
// odd. In which order the other words are, differs.
func (r *reader) headerAt(ra uint64) (h header, ok bool) {
	defer func() { ok = r.Err() == nil && ok }()
	if ra < 1<<12 {
		return h, false
	}
	for _, l := range headers {
		link := ra - l.link
		distance := r.Pointer(link)
		if distance > mostCode || (link-distance)&tags != typedTag {
			continue
		}
		c, ok := r.codeAt((link-distance)&^tags + word)
		if !ok || ra < c.lo || ra > c.hi {
			continue
		}
		size := r.Pointer(ra - l.size)
		if size&1 == 1 && l.compact {
			size = size >> 2 & 31 * word
		}
		if size%word != 0 || size > mostFrame {
			continue
		}
		return header{c, size}, true
	}
	return h, false
}
