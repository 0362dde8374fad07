package racket

import (
	"strings"
	"unicode/utf8"

	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// The lowest bits of an object's address are its tag (cmacros.ss of Chez Scheme: type-pair and so
// on). The object begins at the next multiple of 8.
const (
	tags       = 7
	pairTag    = 1
	symbolTag  = 3
	closureTag = 5
	typedTag   = 7
)

// Whole words that are objects without an address, or begin an object.
const (
	nilObject = 0x26
	moved     = 0x3e // forward-marker: the collector has moved the object, the next word tells where to
	movedOld  = 0x2e // likewise, in Chez Scheme 9.5
)

// The first word of an object with typedTag tells its kind.
const (
	codeKind    = 0xbe // in the lowest byte
	codeKindOld = 0x3e // likewise, in Chez Scheme 9.5
	stringKind  = 2    // in the lowest 3 bits; the length is in the bits from 4 on
	bytesKind   = 1    // in the lowest 2 bits; the length is in the bits from 3 on
	recordKind  = typedTag
	charKind    = 0x16 // a character of a string, in the lowest byte; the character is in the bits from 8 on

	systemFlag       = 1 << 8 // of code
	continuationFlag = 2 << 8
	mostKind         = 1 << 20 // the flags of code are below
)

const word = 8

// reader reads the objects of a heap at one moment.
type reader struct {
	*structs.Reader
	left int // how many more words of objects may be read
}

// mostWork bounds it, for one stack.
const mostWork = 1 << 22

// spend takes note of n words. It reports whether they may be read.
func (r *reader) spend(n int) bool {
	if r.left -= n; r.left < 0 {
		r.Fail("there are more objects than can be")
		return false
	}
	return true
}

// begin returns where the object begins to which v leads. While the garbage collector runs, that
// is where it has moved the object to. ok is false if v has another tag.
func (r *reader) begin(v, tag uint64) (at uint64, ok bool) {
	if v&tags != tag || v < 1<<12 || !r.spend(1) {
		return 0, false
	}
	at = v&^tags + word
	if first := r.Pointer(at); first == moved || first == movedOld {
		if to := r.Pointer(at + word); to&tags == tag {
			at = to&^tags + word
		}
	}
	return at, r.OK()
}

// field returns word number i of the object to which v leads; 0 if v has another tag.
func (r *reader) field(v, tag uint64, i uint64) uint64 {
	at, ok := r.begin(v, tag)
	if !ok {
		return 0
	}
	return r.Pointer(at + word*i)
}

// record returns where a record begins.
func (r *reader) record(v uint64) (at uint64, ok bool) {
	at, ok = r.begin(v, typedTag)
	return at, ok && r.Pointer(at)&tags == recordKind
}

// recordSize is which word of the record of a kind of records has their size, in bytes.
const recordSize = 2

// member returns word number i of the record that begins at an address; 0 if the record is smaller.
func (r *reader) member(at uint64, i uint64) uint64 {
	if size := r.field(r.Pointer(at), typedTag, recordSize); size%word != 0 || size>>3 < word*(i+1) {
		return 0
	}
	return r.Pointer(at + word*i)
}

// mostName bounds names and paths, in characters.
const mostName = 1 << 10

// text returns a string, the name of a symbol, or bytes; ok is false if v is none of these.
func (r *reader) text(v uint64) (text string, ok bool) {
	if v&tags == symbolTag {
		return r.symbol(v)
	}
	at, ok := r.begin(v, typedTag)
	if !ok {
		return "", false
	}
	switch kind := r.Pointer(at); {
	case kind&7 == stringKind:
		b := make([]byte, 4*min(kind>>4, mostName))
		if !r.spend(len(b)/word) || !r.Bytes(at+word, b) {
			return "", false
		}
		var text strings.Builder
		for ; len(b) >= 4; b = b[4:] {
			c := r.Arch.Order.Uint32(b)
			if c&0xff != charKind {
				return "", false
			}
			text.WriteRune(rune(c >> 8))
		}
		return text.String(), true
	case kind&3 == bytesKind:
		b := make([]byte, min(kind>>3, mostName))
		if !r.spend(len(b)/word) || !r.Bytes(at+word, b) || !utf8.Valid(b) {
			return "", false
		}
		return string(b), true
	}
	return "", false
}

// symbolName is which word of a symbol leads to its name.
const symbolName = 3

// symbol returns the name of a symbol. The name of one that is unique is in a pair, either first or
// last.
func (r *reader) symbol(v uint64) (string, bool) {
	name := r.field(v, symbolTag, symbolName)
	if name&tags == pairTag {
		for i := range uint64(2) {
			if part := r.field(name, pairTag, i); part&tags == typedTag {
				name = part
			}
		}
	}
	if name&tags != typedTag {
		return "", false
	}
	return r.text(name)
}
