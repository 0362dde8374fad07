package sbcl

import (
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/sbcl"
)

// Tags of addresses, and the first bytes of objects (widetags): the same from 2.2 to 2.6.
const (
	listTag  = 7
	otherTag = 15
	tags     = 15

	bignumWidetag    = 0x11
	symbolWidetag    = 0x2d
	vectorWidetag    = 0x89 // SIMPLE-VECTOR
	bytesWidetag     = 0x9d // (SIMPLE-ARRAY (UNSIGNED-BYTE 8) (*))
	packedWidetag    = 0xbd // (SIMPLE-ARRAY (SIGNED-BYTE 8) (*)): compressed
	baseWidetag      = 0xe1 // SIMPLE-BASE-STRING
	characterWidetag = 0xe5 // (SIMPLE-ARRAY CHARACTER (*))
)

// Offsets in objects, bytes.
const (
	symbolName  = 40
	packageName = 8
)

// object reads an object's address with its tag, and follows it.
func (r *reader) object(addr uint64) uint64 { return r.vm.Follow(r.Memory(), r.Pointer(addr)) }

// isOf reports whether v leads to an object of a kind.
func (r *reader) isOf(v uint64, widetag byte) bool {
	return v&tags == otherTag && byte(r.Uint(v-otherTag, 1)) == widetag
}

func (r *reader) isString(v uint64) bool {
	return r.isOf(v, baseWidetag) || r.isOf(v, characterWidetag)
}

// mostName bounds a name, bytes; mostDeep the lists in it.
const (
	mostName = 1 << 10
	mostDeep = 32
)

// string returns a string of Lisp.
func (r *reader) string(v uint64) string {
	n := r.Pointer(v-otherTag+8) / 2
	size := uint64(1)
	if r.isOf(v, characterWidetag) {
		size = 4
	}
	b := make([]byte, min(n, mostName)*size)
	if !r.spend(len(b)/16) || !r.Bytes(v-otherTag+16, b) {
		return ""
	}
	if size == 1 {
		return string(b)
	}
	var text strings.Builder
	for ; len(b) >= 4; b = b[4:] {
		text.WriteRune(rune(r.Arch.Order.Uint32(b)))
	}
	return text.String()
}

// text returns the name of a function as the run time's own backtrace writes it. old says that the
// run time is one up to 2.2.
func (r *reader) text(v uint64, old bool) string {
	w := writer{reader: r, old: old}
	w.write(v, 0)
	if !r.OK() {
		return ""
	}
	return w.out.String()
}

type writer struct {
	*reader
	old bool
	out strings.Builder
}

func (w *writer) write(v uint64, deep int) {
	switch {
	case w.out.Len() > mostName || deep > mostDeep || !w.spend(1):
		w.out.WriteString("...")
	case v&1 == 0:
		w.out.WriteString(strconv.FormatInt(int64(v)>>1, 10))
	case v&tags == listTag:
		w.out.WriteByte('(')
		for first := true; v&tags == listTag && !w.isNil(v) && w.OK() && w.out.Len() <= mostName && w.spend(1); first = false {
			if !first {
				w.out.WriteByte(' ')
			}
			w.write(w.object(v-listTag), deep+1)
			v = w.object(v - listTag + 8)
		}
		w.out.WriteByte(')')
	case w.isString(v):
		w.out.WriteString(strconv.Quote(w.string(v)))
	case w.isOf(v, symbolWidetag):
		w.symbol(v)
	default:
		w.out.WriteString("#<" + strconv.FormatUint(v, 16) + ">")
	}
}

// isNil reports whether a list is the empty one: its parts are itself.
func (r *reader) isNil(v uint64) bool {
	return r.Pointer(v-listTag) == v && r.Pointer(v-listTag+8) == v
}

// symbol writes a symbol with its package, but for the ones of Common Lisp.
func (w *writer) symbol(v uint64) {
	name := w.Pointer(v - otherTag + symbolName)
	number := name >> 48
	if !w.old {
		number = w.Uint(v-otherTag+1, 2)
	}
	name = w.vm.Follow(w.Memory(), name&(1<<48-1))
	if !w.isString(name) {
		w.Fail("a symbol has no name")
		return
	}
	switch home := w.packageOf(number); home {
	case "":
		w.out.WriteString("#:")
	case "COMMON-LISP":
	case "KEYWORD":
		w.out.WriteByte(':')
	case "COMMON-LISP-USER":
		w.out.WriteString("CL-USER::")
	default:
		w.out.WriteString(home + "::")
	}
	w.out.WriteString(w.string(name))
}

// packageOf returns the name of the package with a number, "" if there is none.
func (r *reader) packageOf(number uint64) string {
	all := r.object(r.vm.Packages)
	if number == 0 || !r.isOf(all, vectorWidetag) || number >= r.Pointer(all-otherTag+8)/2 {
		return ""
	}
	home := r.object(all - otherTag + 16 + 8*number)
	if home&tags != sbcl.InstanceTag {
		return ""
	}
	if name := r.object(home - sbcl.InstanceTag + packageName); r.isString(name) {
		return r.string(name)
	}
	return ""
}
