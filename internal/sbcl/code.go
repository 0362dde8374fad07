package sbcl

import "github.com/sfwalk/sfwalk/target"

// Code is a code object: what was compiled together.
type Code struct {
	Start uint64 // of the object
	Text  uint64 // of its machine code
	End   uint64 // of the object
	// Info is what the object leads to for debuggers, an address with a tag. Routines says that the
	// code is the run time's assembly routines; then it is their table.
	Info     uint64
	Routines bool
	// Words is how many words the header has, up to and with the one that leads to Info: 3 up to
	// about 2.3, 4 later.
	Words int
}

// What of objects' layout has not changed from 2.2 to 2.6.
const (
	codeWidetag     = 0x35
	instanceWidetag = 0x39
	// InstanceTag is the tag of an address of an instance of a structure.
	InstanceTag = 3 // the tags of all addresses have these bits
	listTag     = 7
	tags        = 15 // the bits of an address that are its tag
	word        = 8
	alignment   = 2 * word // of objects
)

const (
	// mostCode bounds how far before an address its code object begins, bytes.
	mostCode = 2 << 20
	block    = 4 << 10
)

// Find returns the code object that has the machine code at pc. ok is false if there is none; then
// Start is how far back it was looked for.
//
// Nothing leads from code to its object's header: Find goes through memory before pc. A header is
// there if its size takes in pc, and if it leads to an instance. Within code, such a thing cannot
// be: it would hold two words with a pointer behind them.
func (r *Runtime) Find(mem target.Memory, pc uint64) (c Code, ok bool) {
	lo := r.dynamicLo
	switch {
	case r.At(pc) != Lisp:
		return Code{Start: pc}, false
	case pc >= r.textLo && pc < r.textHi:
		lo = r.textLo
	}
	if pc-lo > mostCode {
		lo = pc - mostCode
	}
	var b [block + 3*word]byte
	for hi := pc&^(alignment-1) + alignment; hi > lo; {
		from := max((hi-1)&^(block-1), lo)
		// The header of the last place in the block is in the next one, too.
		n, _ := mem.ReadMemory(from, b[:hi-from+3*word])
		for at := int(hi-from) - alignment; at >= 0; at -= alignment {
			if at+4*word > n || b[at] != codeWidetag {
				continue
			}
			if c, ok = r.header(mem, from+uint64(at), b[at:at+4*word], pc); ok {
				return c, true
			}
		}
		hi = from
	}
	return Code{Start: lo}, false
}

// header returns the code object whose header begins with b, if it is one and has the code at pc.
func (r *Runtime) header(mem target.Memory, start uint64, b []byte, pc uint64) (c Code, ok bool) {
	size := uint64(r.order.Uint32(b[4:])) * word
	boxed := uint64(r.order.Uint32(b[word:]))
	if boxed < 3*word || boxed%word != 0 || boxed >= size || pc-start >= size || pc-start < boxed {
		return c, false
	}
	c = Code{Start: start, Text: start + boxed, End: start + size}
	lo, hi := r.Routines(mem)
	c.Routines = pc >= lo && pc < hi
	for _, at := range []int{3, 2} {
		// Where the first of these has fixups, they are a number or lead to one.
		info := r.order.Uint64(b[at*word:])
		if c.Routines && info&tags == listTag { // the table begins a list
			info = r.pointer(mem, r.Follow(mem, info)-listTag)
		}
		info = r.Follow(mem, info)
		if info&tags == InstanceTag && byte(r.pointer(mem, info-InstanceTag)) == instanceWidetag {
			c.Info, c.Words = info, at+1
			return c, true
		}
	}
	return c, c.Routines
}

// Follow returns where an object is, of which v is the address with its tag: while the garbage
// collector runs, it leaves there where it has moved the object to.
func (r *Runtime) Follow(mem target.Memory, v uint64) uint64 {
	const moved = 1
	if v&InstanceTag == InstanceTag && r.pointer(mem, v&^tags) == moved {
		return r.pointer(mem, v&^tags+word)
	}
	return v
}

// pointer reads a word; it is 0 if it cannot be read.
func (r *Runtime) pointer(mem target.Memory, addr uint64) uint64 {
	var b [word]byte
	if n, _ := mem.ReadMemory(addr, b[:]); n < word {
		return 0
	}
	return r.order.Uint64(b[:])
}

// Routines returns the bounds of the code of the assembly routines.
func (r *Runtime) Routines(mem target.Memory) (lo, hi uint64) {
	return r.pointer(mem, r.routinesStart), r.pointer(mem, r.routinesEnds)
}

// Routine is an assembly routine: its code [Lo, Hi), and its name without a package.
type Routine struct {
	Lo, Hi uint64
	Name   string
}

// Of objects' layout, all releases have these in common, too.
const (
	otherTag     = 15
	tablePairs   = 5 * word // of a hash table: a vector of keys and values
	vectorLength = word
	vectorData   = 2 * word
	symbolName   = 5 * word
	baseString   = 0xe1 // the first byte of a string of one byte a character
	mostRoutines = 1 << 10
	mostName     = 64 // bytes
)

// Routine returns the assembly routine at pc, of which c is the code object. ok is false if the
// table of them does not tell. It is a hash table from names to lists of two numbers, where each
// begins and ends.
func (r *Runtime) Routine(mem target.Memory, c *Code, pc uint64) (found Routine, ok bool) {
	if c.Info == 0 {
		return found, false
	}
	pairs := r.Follow(mem, r.pointer(mem, c.Info-InstanceTag+tablePairs)) - otherTag
	n := min(r.pointer(mem, pairs+vectorLength)/2, 2*mostRoutines)
	for at := pairs + vectorData + 2*word; n >= 4; at, n = at+2*word, n-2 {
		place := r.Follow(mem, r.pointer(mem, at+word))
		if place&tags != listTag {
			continue
		}
		rest := r.Follow(mem, r.pointer(mem, place-listTag+word))
		found.Lo, found.Hi = c.Text+r.pointer(mem, place-listTag)/2, c.Text+r.pointer(mem, rest-listTag)/2+1
		if rest&tags != listTag || pc < found.Lo || pc >= found.Hi {
			continue
		}
		symbol := r.Follow(mem, r.pointer(mem, at))
		if symbol&tags != otherTag {
			return found, false
		}
		name := r.Follow(mem, r.pointer(mem, symbol-otherTag+symbolName)&(1<<48-1)) - otherTag
		size := r.pointer(mem, name+vectorLength) / 2
		if byte(r.pointer(mem, name)) != baseString || size > mostName {
			return found, false
		}
		b := make([]byte, size)
		if got, _ := mem.ReadMemory(name+vectorData, b); got < len(b) {
			return found, false
		}
		found.Name = string(b)
		return found, true
	}
	return found, false
}
