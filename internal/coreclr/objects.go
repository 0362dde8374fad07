package coreclr

import (
	"errors"

	"github.com/sfwalk/sfwalk/target"
)

// Bounds of a look at all objects.
const (
	partOfHeap = 1 << 18 // bytes that are read at once
	mostHeapIn = 1 << 33 // bytes in all
	mostWrong  = 1 << 14 // words that are no object's beginning where one should be
	mostTables = 1 << 20 // types
	nearTables = 1 << 12
	leastSize  = 24 // bytes of an object
	leastBase  = 16 // and of an object of which some come by elements
)

// The errors of [Runtime.Objects].
var (
	ErrLarge  = errors.New("the heap is larger than 8 GiB: the objects of the rest are not known")
	ErrBroken = errors.New("the objects of a part of the heap are not known: it is changing, or cannot be read")
)

// Objects calls each with the address and the type's record of all objects in spans whose type is
// wanted. wanted is asked once for each type. What was found before an error stays.
func (r *Runtime) Objects(m target.Memory, spans []Span, wanted func(table uint64) bool, each func(at, table uint64)) (err error) {
	w := walk{r: r, m: m, wanted: wanted, each: each, types: map[uint64]walked{}, part: make([]byte, partOfHeap)}
	for _, s := range spans {
		if w.total += s.End - s.Begin; w.total > mostHeapIn {
			return ErrLarge
		}
		if !w.span(s) {
			err = ErrBroken
		}
	}
	return err
}

// walk is a look at all objects.
type walk struct {
	r      *Runtime
	m      target.Memory
	wanted func(table uint64) bool
	each   func(at, table uint64)
	types  map[uint64]walked
	near   [nearTables]walked // of types, the last ones
	part   []byte
	total  uint64
	wrong  int
}

// walked is what a look at all objects needs of a type.
type walked struct {
	table           uint64
	base, component uint32
	ok, wanted      bool
}

func (w *walk) typeAt(table uint64) *walked {
	x := &w.near[table>>4%nearTables]
	if x.table == table {
		return x
	}
	t, known := w.types[table]
	if !known {
		found, ok := w.r.Type(w.m, table)
		if !ok && w.r.isFree(w.m, table) {
			found, ok = Type{Base: leastSize, Component: 1}, true
		}
		t = walked{table: table, base: found.Base, component: found.Component, ok: ok && found.Base >= leastBase}
		t.wanted = t.ok && found.Module != 0 && w.wanted(table)
		if len(w.types) < mostTables {
			w.types[table] = t
		}
	}
	*x = t
	return x
}

// isFree reports whether a record is the one that free memory between objects has for a type: it is
// an array of bytes without anything more.
func (r *Runtime) isFree(m target.Memory, table uint64) bool {
	flags, ok := half(m, table+r.types.flags)
	base, known := half(m, table+r.types.base)
	return ok && known && flags == hasComponents|1 && base == leastSize && word(m, table+r.types.parent) == 0 && word(m, table+r.types.class) == 0
}

// span looks at the objects of a span. It reports whether all of it has objects.
func (w *walk) span(s Span) bool {
	before := w.wrong
	for at := s.Begin &^ 7; at < s.End; {
		n, _ := w.m.ReadMemory(at, w.part[:min(uint64(len(w.part)), s.End-at)])
		part := w.part[:n&^7]
		if len(part) < leastSize {
			return s.End-at < leastSize
		}
		begin := at
		for at-begin+16 <= uint64(len(part)) {
			b := part[at-begin:]
			table := order.Uint64(b)
			if table == 0 {
				at += 8
				continue
			}
			t := w.typeAt(table &^ 7) // the collector notes something in the lowest bits
			if !t.ok {
				if w.wrong++; w.wrong > mostWrong {
					return false
				}
				at += 8
				continue
			}
			if t.wanted {
				w.each(at, t.table)
			}
			size := uint64(t.base)
			if t.component != 0 {
				size += uint64(t.component) * uint64(order.Uint32(b[8:]))
			}
			at += (size + 7) &^ 7
		}
	}
	return w.wrong == before
}
