package lastwords

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// goType is what is known of a type of Go: the fields of a struct abi.Type (internal/abi/type.go).
type goType struct {
	kind uint8
	name string // "string", "*errors.errorString"
	addr uint64
}

// Kinds of types (internal/abi.Kind).
const (
	goBool, goInt, goInt64, goUint, goUint64, goUintptr, goFloat32, goFloat64 = 1, 2, 6, 7, 11, 12, 13, 14
	goPointer, goString                                                       = 22, 24
	lastKind                                                                  = 26
)

// Offsets in a struct abi.Type of 64-bit programs, and flags.
const (
	goTypeSize = 48
	goTFlag    = 20
	goKind     = 23
	goStr      = 40
	extraStar  = 1 << 1 // the name has a star before it that is not the type's
)

// typeAt reads a type. ok is false if there is none: a type is in what the file has of the
// program's constants, and one word of struct moduledata leads from its name's offset to a name.
func (p *goProgram) typeAt(addr uint64) (t goType, ok bool) {
	if addr == 0 || addr%8 != 0 {
		return t, false
	}
	var data [goTypeSize]byte
	if p.Image.ReadLoaded(addr-p.Bias, data[:]) < len(data) || p.writable(addr-p.Bias) {
		return t, false
	}
	order := p.memory.arch.Order
	t = goType{kind: data[goKind] & 31, addr: addr}
	offset := uint64(order.Uint32(data[goStr:]))
	if t.kind == 0 || t.kind > lastKind || offset == 0 || offset >= 1<<31 {
		return t, false
	}
	// types and etypes follow each other, perhaps with one word between them.
	for i, lo := range p.data {
		if lo > addr-p.Bias || lo == 0 {
			continue
		}
		for _, hi := range p.data[i+1 : min(i+3, len(p.data))] {
			if addr-p.Bias >= hi || lo+offset >= hi {
				continue
			}
			name, valid := p.name(lo+offset, data[goTFlag]&extraStar != 0)
			switch {
			case !valid:
			case t.name == "" || t.name == name:
				t.name = name
			default:
				return t, false // two words lead to names
			}
		}
	}
	return t, t.name != "" && t.fits()
}

// fits reports whether the name of a type fits its kind.
func (t *goType) fits() bool {
	if (t.kind == goPointer) != strings.HasPrefix(t.name, "*") {
		return t.kind == goPointer && strings.Contains(t.name, ".") // a named type of pointers
	}
	switch t.name {
	case "string":
		return t.kind == goString
	case "int":
		return t.kind == goInt
	case "bool":
		return t.kind == goBool
	}
	return true
}

// name reads a name (internal/abi.Name): flags, the length as a varint, the text.
func (p *goProgram) name(addr uint64, star bool) (string, bool) {
	const longest = 1 << 10
	var data [longest]byte
	got := data[:p.Image.ReadLoaded(addr, data[:])]
	if len(got) < 3 || got[0] > 0xf || p.writable(addr) {
		return "", false
	}
	n, size := binary.Uvarint(got[1:])
	if size <= 0 || n == 0 || n > uint64(len(got)-1-size) {
		return "", false
	}
	text := string(got[1+size:][:n])
	if star {
		if text[0] != '*' {
			return "", false
		}
		text = text[1:]
	}
	if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", false
	}
	first := text[0] | 0x20
	if strings.IndexByte("*[(", text[0]) < 0 && (first < 'a' || first > 'z') && text[0] != '_' && text[0] < 0x80 {
		return "", false
	}
	return text, true
}

// writable reports whether an address of the file is in a segment that may be written: one that
// holds no types. In a program that is relocated, types are in one that is written once.
func (p *goProgram) writable(addr uint64) bool {
	in := func(s *elf.ProgHeader) bool { return addr-s.Vaddr < s.Memsz }
	writable := false
	for i := range p.Image.Progs {
		s := &p.Image.Progs[i]
		switch {
		case s.Type == elf.PT_GNU_RELRO && in(s):
			return false
		case s.Type == elf.PT_LOAD && s.Flags&elf.PF_W != 0 && in(s):
			writable = true
		}
	}
	return writable
}

// text reads a string of Go. ok is false if not all of it can be read, or if it is no text.
func (p *goProgram) text(addr, size uint64) (string, bool) {
	if size == 0 {
		return "", true
	}
	data := p.memory.bytes(addr, int(min(size, maxText)))
	if data == nil || size > 1<<40 {
		return "", false
	}
	if size > maxText {
		return string(data) + "…", true
	}
	return string(data), true
}

// value returns the text that the runtime prints for the value of a panic, of a type and with a
// word of data. ok is false if it is not understood.
func (p *goProgram) value(typ, word uint64) (string, bool) {
	if typ == 0 {
		return "nil", word == 0
	}
	t, ok := p.typeAt(typ)
	if !ok {
		return "", false
	}
	order := p.memory.arch.Order
	text, number := "", true
	switch {
	case t.kind == goString:
		header := p.memory.bytes(word, 16)
		if header == nil {
			return "", false
		}
		if text, ok = p.text(order.Uint64(header), order.Uint64(header[8:])); !ok {
			return "", false
		}
		number = false
		text = strings.ReplaceAll(text, "\n", "\n\t")
	case t.kind == goBool:
		data := p.memory.bytes(word, 1)
		if data == nil || data[0] > 1 {
			return "", false
		}
		text = fmt.Sprint(data[0] == 1)
	case t.kind >= goInt && t.kind <= goUintptr:
		sizes := [...]int{8, 1, 2, 4, 8}
		size := 8
		if t.kind < goUintptr {
			size = sizes[(t.kind-goInt)%5]
		}
		data := p.memory.bytes(word, size)
		if data == nil {
			return "", false
		}
		if text = fmt.Sprint(unsigned(order, data)); t.kind <= goInt64 {
			shift := 64 - 8*size
			text = fmt.Sprint(int64(unsigned(order, data)<<shift) >> shift)
		}
	case t.kind == goFloat64:
		data := p.memory.bytes(word, 8)
		if data == nil {
			return "", false
		}
		text = fmt.Sprint(math.Float64frombits(order.Uint64(data)))
	case t.kind == goFloat32:
		data := p.memory.bytes(word, 4)
		if data == nil {
			return "", false
		}
		text = fmt.Sprint(math.Float32frombits(order.Uint32(data)))
	default:
		return p.object(t, word)
	}
	switch {
	case !strings.ContainsAny(t.name, ".*["): // a predeclared type
		return text, true
	case t.name == "runtime.errorString":
		return "runtime error: " + text, true
	case t.name == "runtime.plainError":
		return text, true
	case number:
		return t.name + "(" + text + ")", true
	}
	return t.name + `("` + text + `")`, true
}

// simpleErrors are types of the standard library whose message is the string that the value begins
// with.
var simpleErrors = map[string]bool{"*errors.errorString": true, "*fmt.wrapError": true, "*fmt.wrapErrors": true}

// object returns the text for a value of any other type: its type and its address, as the runtime
// prints values that are no errors, or the message of an error of the standard library. The runtime
// asks an error for its message when all deferred functions have been called.
func (p *goProgram) object(t goType, word uint64) (string, bool) {
	if simpleErrors[t.name] {
		if header := p.memory.bytes(word, 16); header != nil {
			if text, ok := p.text(p.memory.arch.Order.Uint64(header), p.memory.arch.Order.Uint64(header[8:])); ok {
				return strings.ReplaceAll(text, "\n", "\n\t"), true
			}
		}
	}
	return fmt.Sprintf("(%s) %#x", t.name, word), true
}

func unsigned(order binary.ByteOrder, data []byte) uint64 {
	switch len(data) {
	case 1:
		return uint64(data[0])
	case 2:
		return uint64(order.Uint16(data))
	case 4:
		return uint64(order.Uint32(data))
	}
	return order.Uint64(data)
}

// version returns the release by which the program was built, as its file has it since Go 1.18;
// "" if it is not known.
func (p *goProgram) version() string {
	const magic, header = "\xff Go buildinf:", 32
	data, _, err := p.Image.Section(".go.buildinfo")
	if err != nil || len(data) < header || !bytes.HasPrefix(data, []byte(magic)) || data[15]&2 == 0 {
		return ""
	}
	n, size := binary.Uvarint(data[header:])
	if size <= 0 || n > uint64(len(data)-header-size) {
		return ""
	}
	return string(data[header+size:][:n])
}
