package value

import (
	"debug/dwarf"
	"strconv"
)

// goPair is an entry of a map.
type goPair struct{ key, value Value }

// goOverhead counts as bytes that are read for a bucket, beside its own.
const goOverhead = 256

// goMap writes a map.
func (w *Writer) goMap(v *Value, t *Type, level int, typed bool) {
	addr, _ := v.Uint()
	if typed {
		w.Put(goTypeName(v.Type) + " ")
	}
	if addr == 0 {
		w.Put("nil")
		return
	}
	next, count, ok := w.goPairs(v)
	if !ok {
		w.Put("(unreadable wrong real type for map)")
		return
	}
	key, elem := t.goPart(attrGoKey), t.goPart(attrGoElem)
	w.Put("[")
	limit := uint64(w.p.elements())
	written := uint64(0)
	for level <= maxGoLevel && written < limit && written < count && !w.full {
		p, ok := next()
		if !ok {
			break
		}
		k, x := p.key.goStored(key), p.value.goStored(elem)
		w.goValue(&k, level+1, false)
		w.Put(": ")
		w.goValue(&x, level+1, false)
		w.Put(", ")
		written++
	}
	if written < count {
		if written > 0 {
			w.Put(",...+" + strconv.FormatUint(count-written, 10) + " more")
		} else {
			w.Put("...")
		}
	}
	w.Put("]")
}

// goPairs returns the entries of a map, and their number. next is nil for a nil map.
func (w *Writer) goPairs(v *Value) (next func() (goPair, bool), count uint64, ok bool) {
	if addr, err := v.Uint(); err != nil || addr == 0 {
		return nil, 0, err == nil
	}
	m := v.Deref()
	n, ok := m.Member("used")
	if ok {
		next = m.goGroups(w)
	} else if n, ok = m.Member("count"); ok {
		next = m.goBuckets(w)
	}
	count, err := n.Uint()
	return next, count, ok && err == nil && next != nil
}

// goStored returns a key or a value of a map. A large one is somewhere else: the map has a pointer to it.
func (v *Value) goStored(as *Type) Value {
	if as == nil {
		return *v
	}
	if v.Type.Strip().Kind == Pointer && as.Strip().Kind != Pointer {
		return v.DerefAs(as)
	}
	x := *v
	x.Type = as
	return x
}

// goPart returns the type of a map's keys or values; nil if it is not known.
func (t *Type) goPart(a dwarf.Attr) *Type {
	if t.entry == nil || !t.entry.Has(a) {
		return nil
	}
	return t.r.typeAt(t.entry.Reference(a))
}

// goGroups returns the entries of a Swiss table (package internal/runtime/maps, since Go 1.24), in the order in which they
// lie there.
func (v *Value) goGroups(w *Writer) func() (goPair, bool) {
	d, ok := v.Member("dirPtr")
	l, ok2 := v.Member("dirLen")
	dir, err := d.Uint()
	n, err2 := l.Uint()
	if !ok || !ok2 || err != nil || err2 != nil {
		return nil
	}
	tableType := d.Type.Strip().Elem().Strip().Elem()
	groupType := tableType.member("groups").member("data").Strip().Elem()
	size, sized := groupType.SizeOf()
	if groupType.Strip().Kind != Struct || !sized || size == 0 {
		return nil
	}
	ptr := uint64(v.Type.r.Arch.PtrSize)
	var (
		data, groups uint64 // of the table
		group        *Value
		g, slot      uint64
		table, last  uint64
		control      uint64 // a byte for each slot: the highest bit is set if the slot is not in use
		wrong        int
	)
	if n == 0 { // a map of up to eight entries is one group
		data, groups = dir, 1
	}
	big := v.Type.ByteOrder() == bigEndian
	return func() (goPair, bool) {
		for {
			if group != nil {
				for slot < 8 {
					i := slot
					slot++
					if control>>(8*i)&0x80 == 0 {
						return group.goSlot(i)
					}
				}
				group = nil
			}
			for g >= groups { // the next table
				if table >= n || !w.Spend(goOverhead) {
					return goPair{}, false
				}
				b := make([]byte, ptr)
				if v.ReadMemory(dir+table*ptr, b) != nil {
					return goPair{}, false
				}
				table++
				at := number(b, big)
				if at == last { // the directory may have a table more than once, in a row
					continue
				}
				last = at
				t := v.At(tableType, at)
				p, ok := t.Member("groups", "data")
				m, ok2 := t.Member("groups", "lengthMask")
				first, err := p.Uint()
				mask, err2 := m.Uint()
				if !ok || !ok2 || err != nil || err2 != nil {
					return goPair{}, false
				}
				data, groups, g = first, min(mask, maxObject)+1, 0
			}
			if !w.Spend(goOverhead + int(min(size, maxRead))) {
				return goPair{}, false
			}
			x := v.At(groupType, data+g*size)
			x.load()
			g++
			ctrl, _ := x.Member("ctrl")
			if control, err = ctrl.Uint(); err != nil {
				if wrong++; wrong > maxGoWrong {
					return goPair{}, false
				}
				continue
			}
			group, slot = &x, 0
		}
	}
}

// goSlot returns the entry of a slot of a group.
func (v *Value) goSlot(i uint64) (p goPair, ok bool) {
	if slots, has := v.Member("slots"); has {
		s := slots.Index(i)
		k, ok := s.Member("key")
		x, ok2 := s.Member("elem")
		return goPair{k, x}, ok && ok2
	}
	keys, ok := v.Member("keys")
	elems, ok2 := v.Member("elems")
	if !ok || !ok2 {
		return p, false
	}
	return goPair{keys.Index(i), elems.Index(i)}, true
}

// member returns the type of a member; one that is unknown if there is none.
func (t *Type) member(name string) *Type {
	s := t.Strip()
	for i := range s.Fields() {
		if f := &s.Fields()[i]; f.Name == name {
			return f.Type
		}
	}
	return t.r.unknown()
}

// goBuckets returns the entries of a map of Go before 1.24: buckets of eight entries, with more in a list behind each. While a
// map grows, some entries are in the old buckets.
func (v *Value) goBuckets(w *Writer) func() (goPair, bool) {
	number := func(name string) (uint64, *Type, bool) {
		m, ok := v.Member(name)
		n, err := m.Uint()
		return n, m.Type, ok && err == nil
	}
	b, _, ok := number("B")
	buckets, pointer, ok2 := number("buckets")
	old, _, ok3 := number("oldbuckets")
	flags, _, ok4 := number("flags")
	if !ok || !ok2 || !ok3 || !ok4 || b > 48 || pointer.Strip().Kind != Pointer {
		return nil
	}
	bucketType := pointer.Strip().Elem()
	size, sized := bucketType.SizeOf()
	if !sized || bucketType.Strip().Kind != Struct || size == 0 {
		return nil
	}
	const sameSize = 8
	olds := uint64(1) << b
	if flags&sameSize == 0 {
		olds = max(olds/2, 1)
	}
	var (
		i, slot uint64
		bucket  *Value
		hashes  []byte // a byte for each entry
		wrong   int
	)
	enter := func(x Value) {
		x.load()
		h, _ := x.Member("tophash")
		if h.Type != nil {
			hashes, _ = h.Bytes()
		}
		if len(hashes) < 8 {
			wrong++
			return
		}
		bucket, slot = &x, 0
	}
	return func() (goPair, bool) {
		for {
			if bucket != nil {
				for slot < 8 {
					k := slot
					slot++
					if hashes[k] >= goFirstValue {
						return bucket.goEntry(k)
					}
				}
				more, _ := bucket.Member("overflow")
				bucket = nil
				if at, err := more.Uint(); err == nil && at != 0 {
					enter(v.At(bucketType, at))
				}
			} else {
				if i >= uint64(1)<<b {
					return goPair{}, false
				}
				x := v.At(bucketType, buckets+i*size)
				if old != 0 {
					if before := v.At(bucketType, old+i%olds*size); !before.goMoved() {
						x = before
						if i >= olds { // written with the first of the two buckets that it becomes
							i++
							continue
						}
					}
				}
				i++
				enter(x)
			}
			if wrong > maxGoWrong || !w.Spend(goOverhead+int(min(size, maxRead))) {
				return goPair{}, false
			}
		}
	}
}

// Marks in the place of the highest bits of a key's hash.
const (
	goEmptyOne   = 1
	goFirstValue = 5 // this and higher ones: an entry
)

// goMoved reports whether the entries of an old bucket are in the new ones.
func (v *Value) goMoved() bool {
	hashes, ok := v.Member("tophash")
	if !ok {
		return true
	}
	h := hashes.Index(0)
	n, err := h.Uint()
	return err != nil || n > goEmptyOne && n < goFirstValue
}

// goEntry returns an entry of a bucket.
func (v *Value) goEntry(i uint64) (goPair, bool) {
	keys, ok := v.Member("keys")
	values, ok2 := v.Member("values")
	if !ok || !ok2 {
		return goPair{}, false
	}
	return goPair{keys.Index(i), values.Index(i)}, true
}
