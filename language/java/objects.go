package java

import (
	"bytes"
	"strings"

	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

// objects reads parts of objects. It keeps what classes are called and derived from, for one look
// at a process.
type objects struct {
	*reading
	bases map[fieldKey]uint64
}

func newObjects(r *reading) *objects {
	r.names = map[uint64]string{}
	return &objects{r, map[fieldKey]uint64{}}
}

// class returns the name of an object's class.
func (o *objects) class(object uint64) string { return o.className(o.classOf(object)) }

// base returns the class of that name from which an object's class is derived; 0 if there is none.
func (o *objects) base(object uint64, name string) uint64 {
	key := fieldKey{o.classOf(object), name}
	base, known := o.bases[key]
	if !known {
		base = o.derived(key.class, name)
		o.bases[key] = base
	}
	return base
}

// at returns the address of a field that an object has from a class of that name.
func (o *objects) at(object uint64, class, field string) (addr uint64, ok bool) {
	base := o.base(object, class)
	if base == 0 {
		return 0, false
	}
	f, ok := o.place(base, field)
	return object + f.offset, ok
}

// follow reads a field that is a reference; 0 if there is no such field.
func (o *objects) follow(object uint64, class, field string) uint64 {
	at, ok := o.at(object, class, field)
	if !ok {
		return 0
	}
	return o.reference(at)
}

// number reads a field that is an int.
func (o *objects) integer(object uint64, class, field string) (int, bool) {
	at, ok := o.at(object, class, field)
	v, is := o.small(at)
	return int(int32(v)), ok && is
}

// elements calls do with the references in an array of objects.
func (o *objects) elements(array uint64, do func(object uint64)) {
	if !strings.HasPrefix(o.class(array), "[L") {
		return
	}
	helper, ok := o.reading.number(o.classOf(array), "Klass::_layout_helper")
	length := array + 16
	if o.compact {
		length = array + 8
	} else if o.narrowClasses {
		length = array + 12
	}
	n, is := o.small(length)
	if !ok || !is {
		return
	}
	data, size := array+uint64(helper)>>16&0xff, uint64(8)
	if o.narrowOops {
		size = 4
	}
	n = min(n, mostElements)
	for i := uint64(0); i < n; {
		part := bytes.Clone(o.Read(data+i*size, int(min((n-i)*size, vmstructs.MostRead))))
		for at := 0; at+int(size) <= len(part); at += int(size) {
			i++
			if strings.Trim(string(part[at:at+int(size)]), "\x00") == "" {
				continue
			}
			if object := o.reference(data + (i-1)*size); object != 0 {
				do(object)
			}
		}
		if len(part) < int(size) {
			return
		}
	}
}

// Bounds of arrays and maps.
const (
	mostElements = 1 << 22
	mostNodes    = 1 << 21
	mostTables   = 8 // a map that grows has two
)

const hashMap = "java/util/concurrent/ConcurrentHashMap"

// members calls do with the members of a set that is the keys of a ConcurrentHashMap.
func (o *objects) members(set uint64, do func(object uint64)) {
	of := o.follow(set, hashMap+"$CollectionView", "map")
	tables := []uint64{o.follow(of, hashMap, "table")}
	left := mostNodes
	for i := 0; i < len(tables); i++ {
		o.elements(tables[i], func(node uint64) {
			switch o.class(node) {
			case hashMap + "$ForwardingNode": // the map grows
				if next := o.follow(node, hashMap+"$ForwardingNode", "nextTable"); next != tables[len(tables)-1] && len(tables) < mostTables {
					tables = append(tables, next)
				}
				return
			case hashMap + "$TreeBin":
				node = o.follow(node, hashMap+"$TreeBin", "first")
			}
			for turn := newTurn(node); node != 0 && left > 0; left-- {
				if key := o.follow(node, hashMap+"$Node", "key"); key != 0 {
					do(key)
				}
				if node = o.follow(node, hashMap+"$Node", "next"); turn.back(node) {
					break
				}
			}
		})
	}
}

// turn notices that a list leads back to where it was, after Brent's algorithm.
type turn struct {
	mark        uint64
	steps, most int
}

func newTurn(first uint64) turn { return turn{mark: first, most: 1} }

// back reports whether the list was at the address before.
func (t *turn) back(at uint64) bool {
	if at == t.mark {
		return true
	}
	if t.steps++; t.steps == t.most {
		t.mark, t.steps, t.most = at, 0, 2*t.most
	}
	return false
}
