package sbcl

import (
	"github.com/klauspost/compress/zstd"

	"github.com/sfwalk/sfwalk/internal/sbcl"
)

// Offsets in objects, bytes, without the tag of their addresses: in all releases.
const (
	infoName      = 8
	infoSource    = 16
	infoFirst     = 24 // where the map of functions may be from on
	infoLast      = 40
	functionName  = 8
	functionPlace = 56
	functionNext  = 64
	sourceFile    = 8
)

// info is the debug information of a code object.
type info struct {
	at     uint64 // without its tag
	chain  uint64 // the first function, up to 2.2; else 0
	packed []byte
	names  uint64 // the names of packed functions, an object
	name   uint64 // the name of the code object, and of its packed functions up to the first that has another one
	old    bool   // up to 2.2
}

// infoOf returns the debug information of a code object.
func (r *reader) infoOf(c *sbcl.Code) (i info, ok bool) {
	if c.Info == 0 {
		r.Fail("it leads to no debug information")
		return i, false
	}
	i = info{at: c.Info - sbcl.InstanceTag, old: c.Words == 3}
	if i.old {
		if first := r.object(i.at + infoFirst); first&tags == sbcl.InstanceTag {
			i.chain = first
			return i, r.OK()
		}
	} else {
		for off := uint64(infoFirst); off <= infoLast; off += 8 {
			if v := r.object(i.at + off); r.isOf(v, bytesWidetag) || r.isOf(v, packedWidetag) {
				i.packed, i.names, i.name = r.functions(v), r.object(i.at+off+8), r.object(i.at+infoName)
				return i, r.OK()
			}
		}
	}
	r.Fail("its debug information is laid out in a way that is not known")
	return i, false
}

// mostFunctions bounds the debug information of one code object, bytes.
const mostFunctions = 1 << 20

// functions returns the bytes of a map of functions, as they were before the run time has
// compressed them.
func (r *reader) functions(vector uint64) []byte {
	n := r.Pointer(vector-otherTag+8) / 2
	if n > mostFunctions || !r.spend(int(n)/16) {
		r.Fail("the debug information of a function has %d bytes", n)
		return nil
	}
	b := make([]byte, n)
	if !r.Bytes(vector-otherTag+16, b) || r.isOf(vector, bytesWidetag) {
		return b
	}
	p := packed{b: b}
	size := p.number()
	if p.bad || size > mostFunctions || !r.spend(int(size)/16) {
		r.Fail("the debug information of a function is compressed, and broken")
		return nil
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostFunctions), zstd.WithDecoderLowmem(true))
	if err != nil {
		r.Fail("%w", err)
		return nil
	}
	defer decoder.Close()
	out, err := decoder.DecodeAll(p.b[p.at:], make([]byte, 0, size))
	if err != nil || len(out) != int(size) {
		r.Fail("the debug information of a function is compressed, and broken")
		return nil
	}
	return out
}

// functionAt returns the name of the function at an offset in the code, an object; 0 if there is
// none.
func (r *reader) functionAt(i *info, offset uint64) (name uint64) {
	var of span
	if i.old {
		for f := i.chain; f&tags == sbcl.InstanceTag && r.spend(1); f = r.object(f - sbcl.InstanceTag + functionNext) {
			at := f - sbcl.InstanceTag
			begin, elsewhere := r.places(r.object(at + functionPlace))
			if !r.OK() {
				return 0
			}
			of.next(begin, elsewhere, r.object(at+functionName), offset)
		}
		return of.end(offset)
	}
	p := packed{b: i.packed}
	named := i.name
	var begin, elsewhere uint64
	for p.at < len(p.b) && !p.bad && r.spend(1) {
		index, from, far := p.function()
		begin, elsewhere = begin+from, elsewhere+far
		if index >= 0 {
			named = r.nameOf(i.names, uint64(index))
		}
		of.next(begin, elsewhere, named, offset)
	}
	if p.bad {
		r.Fail("the functions of a code object are packed in a way that is not known")
		return 0
	}
	return of.end(offset)
}

// span finds the function that has an offset. Its code is in two parts, each of which ends where
// the next function's begins.
type span struct {
	begin, elsewhere uint64
	name, found      uint64
	any              bool
}

// next takes note of the next function.
func (s *span) next(begin, elsewhere, name, offset uint64) {
	if s.any && s.found == 0 && (offset >= s.begin && offset < begin || offset >= s.elsewhere && offset < elsewhere) {
		s.found = s.name
	}
	s.begin, s.elsewhere, s.name, s.any = begin, elsewhere, name, true
}

// end returns the name of the function that has the offset, when the last one was noted.
func (s *span) end(offset uint64) uint64 {
	if s.found == 0 && s.any && offset >= s.begin {
		return s.name
	}
	return s.found
}

// places reads the two numbers that begin an integer of Lisp, or the rest of a pair.
func (r *reader) places(v uint64) (begin, elsewhere uint64) {
	if v&tags == listTag {
		v = r.object(v - listTag + 8)
	}
	var b [16]byte
	n := 8
	switch {
	case v&1 == 0:
		r.Arch.Order.PutUint64(b[:], uint64(int64(v)>>1))
	case r.isOf(v, bignumWidetag):
		if n = int(min(r.Pointer(v-otherTag)>>8, 2)) * 8; !r.Bytes(v-otherTag+8, b[:n]) {
			return 0, 0
		}
	default:
		r.Fail("the place of a function is no number")
		return 0, 0
	}
	p := packed{b: b[:n]}
	begin, elsewhere = p.number(), p.number()
	if p.bad {
		r.Fail("the place of a function is no number")
	}
	return begin, elsewhere
}

// nameOf returns the name with a number: of a vector of them, or the only one.
func (r *reader) nameOf(names, index uint64) uint64 {
	if !r.isOf(names, vectorWidetag) {
		return names
	}
	if n := r.Pointer(names-otherTag+8) / 2; index >= n {
		r.Fail("a function has the name %d of %d", index, n)
		return 0
	}
	return r.object(names - otherTag + 16 + 8*index)
}

// file returns the file that a code object was loaded from, "" if it is from none.
func (r *reader) file(i *info) string {
	source := r.object(i.at + infoSource)
	if source&tags != sbcl.InstanceTag {
		return ""
	}
	if name := r.object(source - sbcl.InstanceTag + sourceFile); r.isString(name) {
		return r.string(name)
	}
	return ""
}

// packed reads packed functions (PACKED-DEBUG-FUN).
type packed struct {
	b   []byte
	at  int
	bad bool
}

// The flags of a packed function, and what its arguments and values are said by.
const (
	hasVariables    = 1 << 0
	hasBlocks       = 1 << 1
	hasArguments    = 1 << 2
	hasForm         = 1 << 3
	savesClosure    = 1 << 4
	savesBindings   = 1 << 5
	nameAsBefore    = 1 << 6
	returnsShift    = 5
	returnsMask     = 3
	returnsOf       = 1 // the values are listed
	keyOfPackage    = 6 // an argument: its keyword's package and name follow
	keyword         = 5 // its name follows
	keyOfNoPackage  = 7
	mostArguments   = 1 << 12
	mostNumberBytes = 5
)

func (p *packed) byte() byte {
	if p.at >= len(p.b) {
		p.bad = true
		return 0
	}
	p.at++
	return p.b[p.at-1]
}

// number reads a number of 7 bits a byte, the lowest first.
func (p *packed) number() (n uint64) {
	for i := range mostNumberBytes {
		c := p.byte()
		n |= uint64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n
		}
	}
	p.bad = true
	return 0
}

// skip leaves out bytes, of which a number says how many there are.
func (p *packed) skip() {
	if n := p.number(); n > uint64(len(p.b)-p.at) {
		p.bad = true
	} else {
		p.at += int(n)
	}
}

// numbers leaves out numbers, of which the first says how many there are.
func (p *packed) numbers() {
	for n := min(p.number(), mostArguments); n > 0 && !p.bad; n-- {
		p.number()
	}
}

// function reads a function: the number of its name, -1 if it has the same as the one before it,
// and where its two parts begin, counted from the one before it.
func (p *packed) function() (name int64, begin, elsewhere uint64) {
	options, flags := p.byte(), p.byte()
	name = -1
	if flags&nameAsBefore == 0 {
		name = int64(p.number())
	}
	if flags&hasVariables != 0 {
		p.skip()
	}
	if flags&hasBlocks != 0 {
		p.skip()
	}
	if flags&hasForm != 0 {
		p.number()
	}
	if flags&hasVariables != 0 && flags&hasArguments != 0 {
		for n := min(p.number(), mostArguments); n > 0 && !p.bad; n-- {
			switch p.number() {
			case keyOfPackage:
				p.numbers()
				p.numbers()
			case keyword, keyOfNoPackage:
				p.numbers()
			}
		}
	}
	if options>>returnsShift&returnsMask == returnsOf {
		p.numbers()
	}
	if flags&savesClosure != 0 {
		p.number()
	}
	if flags&savesBindings != 0 {
		p.number()
	}
	begin = p.number()
	p.number() // behind the code that sets the function's frame up
	return name, begin, p.number()
}
