package java

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

// method is what is known of a Method.
type method struct {
	function string // its class and name: "com.example.Server.handle"
	file     string
	native   bool
	static   bool
	codes    uint64 // the address of its bytecodes
	size     uint64 // how many bytes they are
	lines    []byte // the compressed table of lines; nil if there is none

	marks marks
}

// marks tell whether a method still is what was read: its address may be used again.
type marks struct {
	constMethod, pool, holder, class uint64
	name                             int64
}

// methods are methods that were read already, by their addresses.
type methods struct {
	mu   sync.Mutex
	by   map[uint64]*method
	size int // bytes, about
}

const (
	mostKept  = 16 << 20 // bytes of methods
	mostWords = 1 << 20  // of a ConstMethod
	mostLines = 1 << 18  // bytes of a table of lines: a method has at most 65,535 bytecodes
	mostName  = 1 << 12  // bytes of a name that are read
	native    = 0x100    // JVM_ACC_NATIVE, of the Java Virtual Machine Specification, table 4.6-A
)

// method returns the method at an address; nil if there is none.
func (vm *machine) method(r *vmstructs.Reader, at uint64) *method {
	m, codeBytes, flags, ok := vm.marks(r, at)
	if !ok {
		return nil
	}
	vm.methods.mu.Lock()
	known := vm.methods.by[at]
	vm.methods.mu.Unlock()
	if known != nil && known.marks == m {
		return known
	}
	x := &method{marks: m, codes: m.constMethod + vm.constMethodBytes, size: uint64(codeBytes)}
	words, ok := r.Number(m.constMethod, vm.words)
	if !ok || words <= 0 || words > mostWords || uint64(words)*8 < vm.constMethodBytes+x.size {
		return nil
	}
	access, ok := r.Number(at, vm.access)
	class := vm.symbol(r, m.class)
	name := vm.constant(r, m.pool, m.name)
	if !ok || class == "" || name == "" {
		return nil
	}
	x.native, x.static = access&native != 0, access&accessStatic != 0
	x.function = className(class) + vm.anonymous.suffix(r, m.holder) + "." + name
	of := m.pool
	if vm.sourceInHolder {
		of = m.holder
	}
	if i, ok := r.Number(of, vm.source); ok && i > 0 {
		x.file = vm.constant(r, m.pool, i&0xffff)
	}
	if flags&vm.hasLines != 0 && x.size > 0 {
		x.lines = make([]byte, min(uint64(words)*8-vm.constMethodBytes-x.size, mostLines))
		n, _ := r.Memory.ReadMemory(x.codes+x.size, x.lines)
		x.lines = x.lines[:n]
	}
	vm.methods.keep(at, x)
	return x
}

func (k *methods) keep(at uint64, x *method) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.size += len(x.function) + len(x.file) + len(x.lines) + 256
	if k.by == nil || k.size > mostKept {
		k.by, k.size = map[uint64]*method{}, 0
	}
	k.by[at] = x
}

// marks reads what tells a method from others.
func (vm *machine) marks(r *vmstructs.Reader, at uint64) (m marks, codeBytes, flags int64, ok bool) {
	if at == 0 || at&7 != 0 {
		return m, 0, 0, false
	}
	for _, p := range [...]struct {
		to    *uint64
		field vmstructs.Field
		from  *uint64
	}{{&m.constMethod, vm.constMethod, &at}, {&m.pool, vm.pool, &m.constMethod}, {&m.holder, vm.holder, &m.pool}, {&m.class, vm.className, &m.holder}} {
		if *p.to, ok = r.Pointer(*p.from, p.field); !ok || *p.to == 0 || *p.to&7 != 0 {
			return m, 0, 0, false
		}
	}
	m.name, ok = r.Number(m.constMethod, vm.name)
	if !ok || m.name <= 0 {
		return m, 0, 0, false
	}
	if codeBytes, ok = r.Number(m.constMethod, vm.codeSize); !ok || codeBytes < 0 {
		return m, 0, 0, false
	}
	flags, ok = r.Number(m.constMethod, vm.flags)
	return m, codeBytes, flags, ok
}

// constant returns the symbol at an index of a constant pool.
func (vm *machine) constant(r *vmstructs.Reader, pool uint64, i int64) string {
	if n, ok := r.Number(pool, vm.poolLength); !ok || i <= 0 || i >= n {
		return ""
	}
	at, ok := r.Word(pool + vm.poolBytes + 8*uint64(i))
	if !ok {
		return ""
	}
	return vm.symbol(r, at)
}

// symbol returns the text of a Symbol; "" if it is none.
func (vm *machine) symbol(r *vmstructs.Reader, at uint64) string {
	n, ok := r.Number(at, vm.symbolLength)
	if !ok || at == 0 || at&7 != 0 || n <= 0 {
		return ""
	}
	b := make([]byte, min(n&0xffff, mostName))
	if k, _ := r.Memory.ReadMemory(at+vm.symbolBody.Offset, b); k < len(b) {
		return ""
	}
	return text(b)
}

// text returns a string of the class file format (modified UTF-8), "" if it is none: a zero is two
// bytes there, and a character beyond U+FFFF is two of three bytes.
func text(b []byte) string {
	if bytes.IndexByte(b, 0) >= 0 {
		return ""
	}
	if utf8.Valid(b) {
		return string(b)
	}
	var s strings.Builder
	for len(b) > 0 {
		c, n := char(b)
		if n == 0 {
			return ""
		}
		b = b[n:]
		if c >= 0xd800 && c < 0xdc00 {
			if low, n := char(b); n > 0 && low >= 0xdc00 && low < 0xe000 {
				c, b = 0x10000+(c-0xd800)<<10+low-0xdc00, b[n:]
			}
		}
		s.WriteRune(c)
	}
	return s.String()
}

// char decodes one character of up to three bytes; n is 0 if there is none.
func char(b []byte) (c rune, n int) {
	more := func(i int) bool { return len(b) > i && b[i]&0xc0 == 0x80 }
	switch {
	case len(b) == 0:
	case b[0] < 0x80:
		return rune(b[0]), 1
	case b[0]&0xe0 == 0xc0 && more(1):
		return rune(b[0]&0x1f)<<6 | rune(b[1]&0x3f), 2
	case b[0]&0xf0 == 0xe0 && more(1) && more(2):
		return rune(b[0]&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), 3
	}
	return 0, 0
}

// className returns a class's name as Java's own traces have it. A hidden class has the address
// that tells it from others behind a plus sign.
func className(symbol string) string {
	name := strings.ReplaceAll(symbol, "/", ".")
	if i := strings.LastIndex(name, "+0x"); i > 0 && strings.Trim(name[i+3:], "0123456789abcdef") == "" {
		name = name[:i] + "/" + name[i+1:]
	}
	return name
}

// line returns the line of the bytecode at an index, 0 if that is not known. The index is -1 where
// the method is entered.
func (vm *machine) line(m *method, bci int32) int {
	if bci == -1 {
		bci = 0
	}
	if bci < 0 || uint64(bci) >= m.size {
		return 0
	}
	return lineAt(m.lines, vm.compiled.least, bci)
}
