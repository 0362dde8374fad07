package mono

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/sfwalk/sfwalk/internal/pages"
)

// A domain has a table of all code that was compiled in it (MonoJitInfoTable): the domain, the
// count of its chunks, and these; each chunk has a count, where its last code ends, and records in
// the order of their code.
const (
	tableChunks  = 8
	tableList    = 16
	chunkCount   = 4
	chunkEnd     = 8
	chunkRecords = 24
	chunkSize    = 64 // records
	mostChunks   = 1 << 20
	mostName     = 1 << 10 // bytes
	mostOuter    = 64
)

// reading reads the process at one moment.
type reading struct {
	*runtime
	mem   *pages.Pages
	table uint64             // of compiled methods
	files uint64             // of files of code that was compiled before, in the same form; 0 if there are none
	known map[uint64]*method // by address
}

// method is what is known of an address of code.
type method struct {
	code    bool   // it is a method's
	name    string // [unnamed] if memory does not tell
	start   uint64
	wrapper bool   // it has been made to call others
	file    string // of the source
	line    int    // 0 if it is not known
}

func (r *reading) word(at uint64) uint64 {
	var b [8]byte
	if n, _ := r.mem.ReadMemory(at, b[:]); at == 0 || n < len(b) {
		return 0
	}
	return order.Uint64(b[:])
}

func (r *reading) half(at uint64) uint32 {
	var b [4]byte
	if n, _ := r.mem.ReadMemory(at, b[:]); at == 0 || n < len(b) {
		return 0
	}
	return order.Uint32(b[:])
}

// find finds the tables of the first domain: words of the domain that lead to what leads back.
func (r *reading) find() {
	domain := r.word(r.root)
	var b [domainSize]byte
	n, _ := r.mem.ReadMemory(domain, b[:])
	for b := b[:n&^7]; domain != 0 && len(b) >= 16; b = b[8:] {
		if at := order.Uint64(b); r.isTable(domain, at) {
			r.table = at
			if at := order.Uint64(b[8:]); r.isTable(domain, at) {
				r.files = at
			}
			return
		}
	}
}

// isTable reports whether a domain has a table of code at an address.
func (r *reading) isTable(domain, at uint64) bool {
	chunks := r.half(at + tableChunks)
	if at&7 != 0 || r.word(at) != domain || chunks == 0 || chunks > mostChunks {
		return false
	}
	first := r.word(at + tableList)
	count := r.half(first + chunkCount)
	return first != 0 && count <= chunkSize && (count == 0) == (r.word(first+chunkEnd) == 0)
}

// at returns what is known of an address.
func (r *reading) at(pc uint64) *method {
	if m := r.known[pc]; m != nil {
		return m
	}
	m := &method{}
	r.known[pc] = m
	if info := r.in(r.table, pc); info != 0 {
		var flags [1]byte
		if n, _ := r.mem.ReadMemory(info+r.flags, flags[:]); n == 1 && flags[0]&r.notMethods == 0 {
			at := r.word(info + jitInfoMethod)
			m.code, m.start, m.name = true, r.word(info+r.start), r.name(at)
			m.wrapper = r.half(at+r.layout.name+wrapperBehind)&wrapperFlags != 0
			m.file, m.line = r.source(info, at, pc)
		}
	}
	return m
}

// in returns the record that a table has of the code that has pc; 0 if there is none.
func (r *reading) in(table, pc uint64) uint64 {
	if table == 0 {
		return 0
	}
	chunks := int(min(r.half(table+tableChunks), mostChunks))
	chunk := func(i int) uint64 { return r.word(table + tableList + 8*uint64(i)) }
	i := sort.Search(chunks, func(i int) bool { return r.word(chunk(i)+chunkEnd) > pc })
	if i == chunks {
		return 0
	}
	at := chunk(i)
	for n := range uint64(min(r.half(at+chunkCount), chunkSize)) {
		info := r.word(at + chunkRecords + 8*n)
		if start := r.word(info + r.start); pc >= start && pc-start < uint64(r.half(info+r.size)) && r.word(info) != 0 {
			return info
		}
	}
	return 0
}

// unnamed is a method whose name is in a file that a core file lacks.
const unnamed = "[method]"

// name returns the name of a method.
func (r *reading) name(at uint64) string {
	name, class := r.text(r.word(at+r.layout.name)), r.word(at+r.class)
	if name == "" {
		return unnamed
	}
	for range mostOuter {
		typ := r.text(r.word(class + r.image + classNameBehind))
		if typ == "" {
			return unnamed
		}
		if source, ok := machineOf(typ); ok && name == "MoveNext" {
			name = source
		} else {
			name = typ + "." + name
		}
		outer := r.word(class + r.outer)
		if outer == 0 {
			break
		}
		class = outer
	}
	if space := r.text(r.word(class + r.image + namespaceBehind)); space != "" {
		name = space + "." + name
	}
	return name
}

// machineOf returns the name of the method of which a compiler has made a type: an async one, or of
// Roslyn also an iterator. As in Mono's own traces, the code has that method's name.
func machineOf(typ string) (method string, ok bool) {
	rest, ok := strings.CutPrefix(typ, "<")
	end := strings.LastIndex(rest, ">")
	if !ok || end < 1 || !strings.HasPrefix(rest[end:], ">c__async") && !strings.HasPrefix(rest[end:], ">d__") {
		return "", false
	}
	return rest[:end], true
}

// text reads a text that ends with a zero; "" if it is none.
func (r *reading) text(at uint64) string {
	var b [mostName]byte
	if at == 0 {
		return ""
	}
	n, _ := r.mem.ReadMemory(at, b[:])
	end := bytes.IndexByte(b[:n], 0)
	if end < 0 || !utf8.Valid(b[:end]) {
		return ""
	}
	return string(b[:end])
}
