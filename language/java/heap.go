package java

import (
	"math/bits"
	"sync"
	"unicode/utf16"

	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

// heap says how objects lie in memory.
type heap struct {
	tables *vmstructs.Tables

	once          sync.Once
	known         bool
	narrowOops    bool // references in objects take 4 bytes
	narrowClasses bool // the class in an object's header takes 4 bytes
	compact       bool // the class is in the mark word
	oopBase       uint64
	oopShift      uint
	classBase     uint64
	classShift    uint
	markShift     uint
	colour        uint // the bits that ZGC's references have below the address
	colourVaries  bool // each reference says how many these are

	stackLocks        bool // threads may lock objects by a word on their stacks
	heapLow, heapSize uint64

	mu      sync.Mutex
	offsets map[fieldKey]fieldPlace
}

type fieldKey struct {
	class uint64
	name  string
}

// reading is one look at a process. It is not safe for concurrent use.
type reading struct {
	*vmstructs.Reader
	*heap
	names map[uint64]string // what classes are called; nil if that is not kept
}

// word reads a pointer in a structure of the virtual machine. It tries the names by which releases
// have called the field.
func (r *reading) word(object uint64, names ...string) (v uint64, ok bool) {
	for _, name := range names {
		if f, is := r.tables.Fields[name]; is && object != 0 {
			return r.Word(object + f.Offset)
		}
	}
	return 0, false
}

// static reads a static field that is a pointer.
func (r *reading) static(names ...string) (v uint64, ok bool) {
	for _, name := range names {
		if f, is := r.tables.Fields[name]; is {
			return r.Word(f.Offset)
		}
	}
	return 0, false
}

// number reads a number of a structure of the virtual machine.
func (r *reading) number(object uint64, names ...string) (v int64, ok bool) {
	for _, name := range names {
		if f, is := r.tables.Fields[name]; is && object != 0 {
			return r.Number(object, f)
		}
	}
	return 0, false
}

// small reads an int at an address, without its sign.
func (r *reading) small(addr uint64) (uint64, bool) {
	b := r.Read(addr, 4)
	if len(b) < 4 {
		return 0, false
	}
	return uint64(r.Order.Uint32(b)), true
}

// ready learns how objects lie in memory, once.
func (r *reading) ready() bool {
	r.once.Do(func() { r.known = r.learn() })
	return r.known
}

// mostFlags bounds the flags of a virtual machine: JDK 17 has 1,400.
const mostFlags = 1 << 13

// learn reads the flags on which the places of objects' parts depend.
func (r *reading) learn() bool {
	flags := map[string]byte{}
	wanted := map[string]bool{"UseCompressedOops": true, "UseCompressedClassPointers": true, "UseCompactObjectHeaders": true, "UseZGC": true, "LockingMode": true}
	kind := "JVMFlag"
	if _, ok := r.tables.Fields["JVMFlag::flags"]; !ok {
		kind = "Flag"
	}
	first, ok := r.static(kind + "::flags")
	count, _ := r.static(kind + "::numFlags")
	size := r.tables.Types[kind].Size
	if !ok || size == 0 || size > vmstructs.MostRead {
		return false
	}
	for i := range min(count, mostFlags) {
		name, ok := r.word(first+i*size, kind+"::_name")
		if !ok {
			return false
		}
		text := r.Name(name)
		if !wanted[text] {
			continue
		}
		at, _ := r.word(first+i*size, kind+"::_addr")
		b := r.Read(at, 1)
		if len(b) < 1 {
			return false
		}
		if flags[text] = b[0]; len(flags) == len(wanted) {
			break
		}
	}
	r.narrowOops, r.compact = flags["UseCompressedOops"] != 0, flags["UseCompactObjectHeaders"] != 0
	narrow, has := flags["UseCompressedClassPointers"]
	r.narrowClasses = narrow != 0 || r.compact || !has
	_, lockStacks := r.tables.Fields["JavaThread::_lock_stack"]
	const legacy = 1
	r.stackLocks = !lockStacks || flags["LockingMode"] == legacy
	r.learnHeap()
	shift := func(names ...string) uint {
		for _, name := range names {
			if f, ok := r.tables.Fields[name]; ok {
				v, _ := r.Number(0, f)
				return uint(v & 63)
			}
		}
		return 0
	}
	r.oopBase, _ = r.static("CompressedOops::_base", "CompressedOops::_narrow_oop._base", "Universe::_narrow_oop._base")
	r.oopShift = shift("CompressedOops::_shift", "CompressedOops::_narrow_oop._shift", "Universe::_narrow_oop._shift")
	r.classBase, _ = r.static("CompressedKlassPointers::_base", "CompressedKlassPointers::_narrow_klass._base", "Universe::_narrow_klass._base")
	r.classShift = shift("CompressedKlassPointers::_shift", "CompressedKlassPointers::_narrow_klass._shift", "Universe::_narrow_klass._shift")
	r.markShift = uint(r.tables.Constants["markWord::klass_shift"] & 63)
	if r.compact && r.markShift == 0 {
		return false
	}
	if flags["UseZGC"] != 0 {
		if all, ok := r.static("ZGlobalsForVMStructs::_instance_p"); ok {
			// Until 23 the colour is among the upper bits, and each colour is mapped.
			if at, ok := r.word(all, "ZGlobalsForVMStructs::_ZPointerLoadShift"); ok {
				v, _ := r.Word(at)
				r.colour = uint(v & 63)
			}
		}
	}
	return true
}

// oop reads a reference that stands outside of the heap, as handles have them.
func (r *reading) oop(addr uint64) uint64 {
	v, _ := r.Word(addr)
	return r.uncoloured(v)
}

// uncoloured returns the address of a reference of ZGC's, which has a colour below the address. On
// amd64 the colour takes as many bits as it needs for the one of its four upper bits that is set:
// which one that is says when the collector has last looked at the reference.
func (r *reading) uncoloured(v uint64) uint64 {
	const lower = 12
	if !r.colourVaries || r.colour == 0 {
		return v >> r.colour
	}
	return v >> (lower + bits.Len64(v>>lower&15))
}

// reference reads a reference in an object.
func (r *reading) reference(addr uint64) uint64 {
	if !r.narrowOops {
		return r.oop(addr)
	}
	v, _ := r.small(addr)
	return r.widened(v)
}

// widened returns the address that a reference of 4 bytes stands for.
func (r *reading) widened(v uint64) uint64 {
	if v == 0 {
		return 0
	}
	return r.oopBase + v<<r.oopShift
}

// classOf returns the class of an object, 0 if it has none.
func (r *reading) classOf(object uint64) uint64 {
	if object == 0 || object%8 != 0 {
		return 0
	}
	header, ok := r.Word(object)
	switch {
	case !ok:
		return 0
	case r.compact:
		header >>= r.markShift
	case r.narrowClasses:
		if header, ok = r.small(object + 8); !ok {
			return 0
		}
	default:
		class, _ := r.Word(object + 8)
		return class
	}
	if header == 0 {
		return 0
	}
	return r.classBase + header<<r.classShift
}

// maxSymbol bounds names of classes, fields and methods, in bytes.
const maxSymbol = 1 << 10

// symbol reads a name of the virtual machine's. It returns "" for what is no name.
func (r *reading) symbol(addr uint64) string {
	n, ok := r.number(addr, "Symbol::_length")
	body, is := r.tables.Fields["Symbol::_body"]
	if !is {
		body, is = r.tables.Fields["Symbol::_body[0]"]
	}
	if !ok || !is || n <= 0 || n > maxSymbol {
		return ""
	}
	return string(r.bytes(addr+body.Offset, int(n)))
}

// bytes reads n bytes, none if not all are there.
func (r *reading) bytes(addr uint64, n int) []byte {
	b := make([]byte, 0, n)
	for len(b) < n {
		part := r.Read(addr+uint64(len(b)), n-len(b))
		if len(part) == 0 {
			return nil
		}
		b = append(b, part...)
	}
	return b
}

// mostNames bounds the names of classes that are kept in one look.
const mostNames = 1 << 14

// className returns the name of a class as the virtual machine has it: "java/lang/Thread".
func (r *reading) className(class uint64) string {
	if text, known := r.names[class]; known {
		return text
	}
	name, _ := r.word(class, "Klass::_name")
	text := r.symbol(name)
	if r.names != nil && class != 0 {
		if len(r.names) == mostNames {
			clear(r.names)
		}
		r.names[class] = text
	}
	return text
}

// maxSupers bounds the classes from which a class is derived.
const maxSupers = 64

// derived returns the class of that name from which class is derived, or class itself; 0 if there
// is none.
func (r *reading) derived(class uint64, name string) uint64 {
	for range maxSupers {
		if class == 0 {
			break
		}
		if r.className(class) == name {
			return class
		}
		class, _ = r.word(class, "Klass::_super")
	}
	return 0
}

// moved returns where an object is, if a collector of garbage has moved it: then its old place
// leads to the new one.
func (r *reading) moved(object uint64) uint64 {
	const marked, itself = 3, 7
	mark, ok := r.Word(object)
	if !ok || object%8 != 0 || mark&marked != marked {
		return object
	}
	if to := mark &^ itself; mark&itself == marked && r.classOf(to) != 0 {
		return to
	}
	return object
}

// classOfMirror returns the class that a java.lang.Class is of; 0 if it is of none.
func (r *reading) classOfMirror(object uint64) uint64 {
	if r.className(r.classOf(object)) != "java/lang/Class" {
		return 0
	}
	f, ok := r.tables.Fields["java_lang_Class::_klass_offset"]
	if !ok {
		return 0
	}
	at, ok := r.Number(0, f)
	if !ok || at <= 0 {
		return 0
	}
	of, _ := r.Word(object + uint64(at))
	return of
}

// spoken returns what an object is, as jstack says it: "java.lang.Object", "java.lang.Class for
// Dead". It returns "" for what is no object.
func (r *reading) spoken(object uint64) string {
	name := className(r.className(r.classOf(object)))
	if of := r.className(r.classOfMirror(object)); of != "" {
		name += " for " + className(of)
	}
	return name
}

// maxString bounds strings, in bytes.
const maxString = 1 << 10

// text reads a java.lang.String, "" if the object is none.
func (r *reading) text(object uint64) string {
	class := r.classOf(object)
	if class == 0 || r.className(class) != "java/lang/String" {
		return ""
	}
	text, _, _ := r.characters(object, class)
	return text
}

// characters reads a java.lang.String of which class is the class, and how many characters of 16
// bits it has.
func (r *reading) characters(object, class uint64) (text string, n uint64, ok bool) {
	value, ok := r.place(class, "value")
	if !ok {
		return "", 0, false
	}
	array := r.moved(r.reference(object + value.offset))
	of := r.classOf(array)
	name := r.className(of)
	if name != "[B" && name != "[C" {
		return "", 0, false
	}
	data, n, ok := r.arrayOf(array, of)
	if !ok {
		return "", 0, false
	}
	wide := name == "[C"
	if coder, ok := r.place(class, "coder"); ok {
		b := r.Read(object+coder.offset, 1)
		wide = wide || len(b) == 1 && b[0] == 1
	}
	size := n
	if name == "[C" {
		size *= 2
	} else if wide {
		n /= 2
	}
	b := r.bytes(data, int(min(size, maxString)))
	if b == nil && size > 0 {
		return "", 0, false
	}
	if !wide {
		runes := make([]rune, len(b))
		for i, c := range b {
			runes[i] = rune(c)
		}
		return string(runes), n, true
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = r.Order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units)), n, true
}
