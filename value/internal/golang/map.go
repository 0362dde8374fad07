package golang

import (
	"iter"
	"slices"
	"strconv"

	"github.com/sfwalk/sfwalk/value"
)

// pair is an entry of a map.
type pair struct{ key, value value.Value }

// overhead counts as bytes that are read for a bucket, beside its own.
const overhead = 256

// mapOf writes a map.
func mapOf(w *value.Writer, v *value.Value, t *value.Type, level int, typed bool) {
	addr, _ := v.Uint()
	if typed {
		w.Put(v.Type.Name + " ")
	}
	if addr == 0 {
		w.Put("nil")
		return
	}
	next, count, ok := pairs(w, v)
	if !ok {
		w.Put("(unreadable wrong real type for map)")
		return
	}
	key, elem := t.GoMap()
	w.Put("[")
	limit := uint64(w.Limit())
	written := uint64(0)
	for level <= maxLevel && written < limit && written < count && !w.Full() {
		p, ok := next()
		if !ok {
			break
		}
		k, x := stored(&p.key, key), stored(&p.value, elem)
		put(w, &k, level+1, false)
		w.Put(": ")
		put(w, &x, level+1, false)
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

// pairs returns the entries of a map, and their number. next is nil for a nil map.
func pairs(w *value.Writer, v *value.Value) (next func() (pair, bool), count uint64, ok bool) {
	if addr, err := v.Uint(); err != nil || addr == 0 {
		return nil, 0, err == nil
	}
	m := v.Deref()
	n, swiss := m.Member("used")
	if swiss {
		next = groups(&m, w)
	} else if n, ok = m.Member("count"); ok {
		next = buckets(&m, w)
	}
	count, err := n.Uint()
	return next, count, err == nil && next != nil
}

// length returns the number of a map's entries.
func length(v *value.Value) (n uint64, ok bool) {
	if addr, err := v.Uint(); err != nil || addr == 0 {
		return 0, err == nil
	}
	m := v.Deref()
	count, ok := m.Member("used")
	if !ok {
		count, _ = m.Member("count")
	}
	n, err := count.Uint()
	return n, err == nil
}

// entries yields the keys and values of a map in turn.
func entries(v *value.Value, next func() (pair, bool)) iter.Seq2[value.Child, error] {
	_, t := v.Type.GoKind()
	key, elem := t.GoMap()
	return func(yield func(value.Child, error) bool) {
		for next != nil {
			p, ok := next()
			if !ok || !yield(value.Child{Value: stored(&p.key, key)}, nil) || !yield(value.Child{Value: stored(&p.value, elem)}, nil) {
				return
			}
		}
	}
}

// stored returns a key or a value of a map. A large one is somewhere else: the map has a pointer to
// it.
func stored(v *value.Value, as *value.Type) value.Value {
	if as == nil {
		return *v
	}
	if v.Type.Strip().Kind == value.Pointer && as.Strip().Kind != value.Pointer {
		return v.DerefAs(as)
	}
	x := *v
	x.Type = as
	return x
}

// groups returns the entries of a Swiss table (package internal/runtime/maps, since Go 1.24), in
// the order in which they lie there.
func groups(v *value.Value, w *value.Writer) func() (pair, bool) {
	d, ok := v.Member("dirPtr")
	l, ok2 := v.Member("dirLen")
	dir, err := d.Uint()
	n, err2 := l.Uint()
	if !ok || !ok2 || err != nil || err2 != nil {
		return nil
	}
	tableType := d.Type.Strip().Elem().Strip().Elem()
	dataType := memberType(tableType, "groups", "data")
	if dataType == nil {
		return nil
	}
	groupType := dataType.Strip().Elem()
	size, sized := groupType.SizeOf()
	if groupType.Strip().Kind != value.Struct || !sized || size == 0 {
		return nil
	}
	ptr := uint64(v.Type.Reader().Arch.PtrSize)
	var (
		data, groups uint64 // of the table
		group        *value.Value
		g, slot      uint64
		table, last  uint64
		control      uint64 // a byte for each slot: the highest bit is set if the slot is not in use
		wrong        int
	)
	if n == 0 { // a map of up to eight entries is one group
		data, groups = dir, 1
	}
	return func() (pair, bool) {
		for {
			if group != nil {
				for slot < 8 {
					i := slot
					slot++
					if control>>(8*i)&0x80 == 0 {
						return slotOf(group, i)
					}
				}
				group = nil
			}
			for g >= groups { // the next table
				if table >= n || !w.Spend(overhead) {
					return pair{}, false
				}
				b := make([]byte, ptr)
				if v.ReadMemory(dir+table*ptr, b) != nil {
					return pair{}, false
				}
				table++
				at := word(v, b)
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
					return pair{}, false
				}
				data, groups, g = first, min(mask, maxObject)+1, 0
			}
			if !w.Spend(overhead + int(min(size, maxText))) {
				return pair{}, false
			}
			x := v.At(groupType, data+g*size)
			x.Lost() // reads it as a whole
			g++
			ctrl, _ := x.Member("ctrl")
			if control, err = ctrl.Uint(); err != nil {
				if wrong++; wrong > maxWrong {
					return pair{}, false
				}
				continue
			}
			group, slot = &x, 0
		}
	}
}

// slotOf returns the entry of a slot of a group.
func slotOf(v *value.Value, i uint64) (p pair, ok bool) {
	if slots, has := v.Member("slots"); has {
		s := slots.Index(i)
		k, ok := s.Member("key")
		x, ok2 := s.Member("elem")
		return pair{k, x}, ok && ok2
	}
	keys, ok := v.Member("keys")
	elems, ok2 := v.Member("elems")
	if !ok || !ok2 {
		return p, false
	}
	return pair{keys.Index(i), elems.Index(i)}, true
}

// memberType returns the type of a member by the names that lead to it; nil if there is none.
func memberType(t *value.Type, names ...string) *value.Type {
	for _, name := range names {
		fields := t.Strip().Fields()
		i := slices.IndexFunc(fields, func(f value.Field) bool { return f.Name == name })
		if i < 0 {
			return nil
		}
		t = fields[i].Type
	}
	return t
}

// buckets returns the entries of a map of Go before 1.24: buckets of eight entries, with more in a
// list behind each. While a map grows, some entries are in the old buckets.
func buckets(v *value.Value, w *value.Writer) func() (pair, bool) {
	number := func(name string) (uint64, *value.Type, bool) {
		m, ok := v.Member(name)
		n, err := m.Uint()
		return n, m.Type, ok && err == nil
	}
	b, _, ok := number("B")
	buckets, pointer, ok2 := number("buckets")
	old, _, ok3 := number("oldbuckets")
	flags, _, ok4 := number("flags")
	if !ok || !ok2 || !ok3 || !ok4 || b > 48 || pointer.Strip().Kind != value.Pointer {
		return nil
	}
	bucketType := pointer.Strip().Elem()
	size, sized := bucketType.SizeOf()
	if !sized || bucketType.Strip().Kind != value.Struct || size == 0 {
		return nil
	}
	const sameSize = 8
	olds := uint64(1) << b
	if flags&sameSize == 0 {
		olds = max(olds/2, 1)
	}
	var (
		i, slot uint64
		bucket  *value.Value
		hashes  []byte // a byte for each entry
		wrong   int
	)
	enter := func(x value.Value) {
		x.Lost() // reads it as a whole
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
	return func() (pair, bool) {
		for {
			if bucket != nil {
				for slot < 8 {
					k := slot
					slot++
					if hashes[k] >= firstValue {
						return entry(bucket, k)
					}
				}
				more, _ := bucket.Member("overflow")
				bucket = nil
				if at, err := more.Uint(); err == nil && at != 0 {
					enter(v.At(bucketType, at))
				}
			} else {
				if i >= uint64(1)<<b {
					return pair{}, false
				}
				x := v.At(bucketType, buckets+i*size)
				if old != 0 {
					if before := v.At(bucketType, old+i%olds*size); !moved(&before) {
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
			if wrong > maxWrong || !w.Spend(overhead+int(min(size, maxText))) {
				return pair{}, false
			}
		}
	}
}

// Marks in the place of the highest bits of a key's hash.
const (
	emptyOne   = 1
	firstValue = 5 // this and higher ones: an entry
)

// moved reports whether the entries of an old bucket are in the new ones.
func moved(v *value.Value) bool {
	hashes, ok := v.Member("tophash")
	if !ok {
		return true
	}
	h := hashes.Index(0)
	n, err := h.Uint()
	return err != nil || n > emptyOne && n < firstValue
}

// entry returns an entry of a bucket.
func entry(v *value.Value, i uint64) (pair, bool) {
	keys, ok := v.Member("keys")
	values, ok2 := v.Member("values")
	if !ok || !ok2 {
		return pair{}, false
	}
	return pair{keys.Index(i), values.Index(i)}, true
}
