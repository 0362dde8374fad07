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
	table uint64
	known map[uint64]*method // by address
}

// method is what is known of an address of code.
type method struct {
	code    bool   // it is a method's
	name    string // [unnamed] if memory does not tell
	start   uint64
	wrapper bool // it has been made to call others
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

// find finds the table of the first domain: the word of the domain that leads to what leads back.
func (r *reading) find() {
	domain := r.word(r.root)
	var b [domainSize]byte
	n, _ := r.mem.ReadMemory(domain, b[:])
	for b := b[:n&^7]; domain != 0 && len(b) > 0; b = b[8:] {
		at := order.Uint64(b)
		if chunks := r.half(at + tableChunks); at&7 == 0 && r.word(at) == domain && chunks > 0 && chunks <= mostChunks {
			if first := r.word(at + tableList); r.half(first+chunkCount) <= chunkSize && r.word(first+chunkEnd) != 0 {
				r.table = at
				return
			}
		}
	}
}

// at returns what is known of an address.
func (r *reading) at(pc uint64) *method {
	if m := r.known[pc]; m != nil {
		return m
	}
	m := &method{}
	r.known[pc] = m
	if info := r.info(pc); info != 0 {
		var flags [1]byte
		if n, _ := r.mem.ReadMemory(info+r.flags, flags[:]); n == 1 && flags[0]&r.notMethods == 0 {
			at := r.word(info + jitInfoMethod)
			m.code, m.start, m.name = true, r.word(info+r.start), r.name(at)
			m.wrapper = r.half(at+r.layout.name+wrapperBehind)&wrapperFlags != 0
		}
	}
	return m
}

// info returns the record of the code that has pc; 0 if there is none.
func (r *reading) info(pc uint64) uint64 {
	if r.table == 0 {
		return 0
	}
	chunks := int(min(r.half(r.table+tableChunks), mostChunks))
	chunk := func(i int) uint64 { return r.word(r.table + tableList + 8*uint64(i)) }
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
