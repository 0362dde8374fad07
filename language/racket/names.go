package racket

import (
	"strings"

	"github.com/sfwalk/sfwalk/language"
)

// anonymous is how Scheme writes a procedure without a name.
const anonymous = "#<procedure>"

// Words of records that lead from code to its place in the source. Sources have a file, where they
// begin and end, and in Racket a line and a column, too.
const (
	infoSource = 1 // code-info
	// Its list of places at which the procedure goes on: Racket's has a word more before it.
	infoReturns, infoReturnsRacket = 5, 6

	returnOffset = 1 // rp-info: from the address of the code object, with its tag
	returnSource = 2

	sourceFile   = 1
	sourceLine   = 4
	sourceColumn = 5

	filePath = 1 // source-file-descriptor
	pathText = 1 // a path, or a srcloc of Racket
)

// frame returns a procedure as a frame, by what its code object says. ra is where the procedure
// goes on; 0 if it runs.
func (r *reader) frame(c code, ra uint64) (f language.Frame) {
	defer r.Err()
	f = language.Frame{Function: anonymous, Place: c.start}
	if name, ok := r.text(c.name); ok && name != "" {
		f.Function = visible(name)
	}
	r.Err()
	info, ok := r.record(c.info)
	if !ok {
		return f
	}
	source := uint64(0)
	if ra != 0 {
		for _, i := range []uint64{infoReturns, infoReturnsRacket} {
			if source == 0 {
				source = r.returnsAt(r.member(info, i), ra-(c.start-word+typedTag))
			}
		}
	}
	if _, ok := r.record(source); !ok {
		source = r.Pointer(info + word*infoSource)
	}
	f.File, f.Line, f.Column = r.place(source)
	return f
}

// known returns a procedure that waits as a frame, which known may have by where it goes on.
func (r *reader) known(known map[uint64]language.Frame, c call) language.Frame {
	f, ok := known[c.ra]
	if !ok {
		f = r.frame(c.code, c.ra)
		known[c.ra] = f
	}
	return f
}

// visible returns the name of a procedure without what Racket has put before it: "[" is for names
// that were made of a place, "]" for ones that begin with either, and "!" and "^" say behind these
// whether it is a method.
func visible(name string) string {
	rest, ok := strings.CutPrefix(name, "[")
	if !ok {
		rest, ok = strings.CutPrefix(name, "]")
	}
	if !ok {
		return name
	}
	if rest != "" && (rest[0] == '!' || rest[0] == '^') {
		rest = rest[1:]
	}
	if rest == "" {
		return anonymous
	}
	return rest
}

// returnsAt returns the source of the place at an offset in a code object, by a list of the object;
// 0 if there is none.
func (r *reader) returnsAt(list, offset uint64) uint64 {
	at, ok := r.begin(list, typedTag)
	if !ok {
		return 0
	}
	kind := r.Pointer(at)
	if kind&tags != 0 { // a vector; the length is in the bits from 4 on
		return 0
	}
	lo, hi := uint64(0), min(kind>>4, mostCode)
	for lo < hi && r.OK() {
		mid := (lo + hi) / 2
		one, ok := r.record(r.Pointer(at + word + word*mid))
		if !ok {
			return 0
		}
		switch have := r.Pointer(one+word*returnOffset) >> 3; {
		case have == offset:
			return r.Pointer(one + word*returnSource)
		case have < offset:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0
}

// place returns the file, the line and the column of a source; "", 0 and 0 if it has none.
func (r *reader) place(source uint64) (file string, line, column int) {
	at, ok := r.record(source)
	if !ok {
		return "", 0, 0
	}
	of, ok := r.record(r.Pointer(at + word*sourceFile))
	if !ok {
		return "", 0, 0
	}
	path := r.Pointer(of + word*filePath)
	for range 2 { // Racket's are a srcloc with a path
		if inner, ok := r.record(path); ok {
			path = r.Pointer(inner + word*pathText)
		}
	}
	file, ok = r.text(path)
	if !ok {
		return "", 0, 0
	}
	l, c := r.member(at, sourceLine), r.member(at, sourceColumn)
	if r.OK() && l%8 == 0 && c%8 == 0 && l>>3 < 1<<30 && c>>3 < 1<<30 {
		line, column = int(l>>3), int(c>>3)
	}
	return file, line, column
}
