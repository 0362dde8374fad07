package java

// boxes are the classes of boxed values, with the descriptors of the values.
var boxes = map[string]string{
	"java/lang/Boolean": "Z", "java/lang/Byte": "B", "java/lang/Character": "C", "java/lang/Short": "S",
	"java/lang/Integer": "I", "java/lang/Long": "J", "java/lang/Float": "F", "java/lang/Double": "D",
	"java/util/concurrent/atomic/AtomicInteger": "I", "java/util/concurrent/atomic/AtomicLong": "J",
	"java/util/Optional": "L", "java/util/concurrent/atomic/AtomicReference": "L",
}

// box writes a boxed value; one that is a reference within the name of the class.
func (w *writer) box(object, class uint64, descriptor string) bool {
	f, ok := w.place(class, "value")
	if !ok {
		return false
	}
	if descriptor != "L" {
		w.value(descriptor, object+f.offset)
		return true
	}
	w.write(simple(w.className(class)) + "[")
	w.object(w.reference(object + f.offset))
	w.write("]")
	return true
}

// known are classes of which what is in them is written, and not their fields.
var known map[string]func(w *writer, object, class uint64) bool

func init() {
	known = map[string]func(w *writer, object, class uint64) bool{
		"java/util/ArrayList":                       list("elementData", "size"),
		"java/util/Vector":                          list("elementData", "elementCount"),
		"java/util/Arrays$ArrayList":                list("a", ""),
		"java/util/ImmutableCollections$ListN":      list("elements", ""),
		"java/util/concurrent/CopyOnWriteArrayList": list("array", ""),
		"java/util/ImmutableCollections$List12":     (*writer).oneOrTwo,
		"java/util/LinkedList":                      (*writer).linked,
		"java/util/HashMap":                         (*writer).hashMap,
		"java/util/LinkedHashMap":                   (*writer).linkedHashMap,
		"java/util/concurrent/ConcurrentHashMap":    (*writer).concurrentMap,
		"java/util/TreeMap":                         (*writer).treeMap,
		"java/util/HashSet":                         (*writer).mapSet,
		"java/util/LinkedHashSet":                   (*writer).mapSet,
	}
}

// at returns the reference that a field of an object is; the field is of the class of that name, or
// of one from which it is derived. ok is false if there is no such field.
func (w *writer) at(object uint64, name, field string) (to uint64, ok bool) {
	class := w.derived(w.classOf(object), name)
	f, ok := w.place(class, field)
	if class == 0 || !ok {
		return 0, false
	}
	return w.moved(w.reference(object + f.offset)), true
}

// list returns what writes a list whose elements are in an array. size is the field that says how
// many of them; "" if all are.
func list(array, size string) func(w *writer, object, class uint64) bool {
	return func(w *writer, object, class uint64) bool {
		a, ok := w.at(object, w.className(class), array)
		of := w.classOf(a)
		data, n, is := w.arrayOf(a, of)
		if !ok || !is || w.className(of) != "[Ljava/lang/Object;" && size != "" {
			return false
		}
		if size != "" {
			f, ok := w.place(class, size)
			v, is := w.small(object + f.offset)
			if !ok || !is || v > n {
				return false
			}
			n = v
		}
		w.write("[")
		w.items(n, func(i uint64) { w.object(w.reference(data + i*w.referenceSize())) })
		w.write("]")
		return true
	}
}

// oneOrTwo writes a list of one or two elements. The second one is null, or is an object that
// stands for none.
func (w *writer) oneOrTwo(object, class uint64) bool {
	name := w.className(class)
	first, ok := w.at(object, name, "e0")
	second, is := w.at(object, name, "e1")
	if !ok || !is {
		return false
	}
	w.write("[")
	w.object(first)
	if second != 0 && w.className(w.classOf(second)) != "java/lang/Object" {
		w.write(", ")
		w.object(second)
	}
	w.write("]")
	return true
}

// linked writes a LinkedList.
func (w *writer) linked(object, class uint64) bool {
	const node = "java/util/LinkedList$Node"
	at, ok := w.at(object, w.className(class), "first")
	w.write("[")
	for n := 0; ok && at != 0 && w.another(n); n++ {
		item, is := w.at(at, node, "item")
		if !is {
			return false
		}
		w.object(item)
		at, ok = w.at(at, node, "next")
	}
	w.write("]")
	return ok
}

// another begins item n of a collection. It reports whether that one is to be written.
func (w *writer) another(n int) bool {
	if n > 0 {
		w.write(", ")
	}
	if n == mostItems || w.text.Len() > mostValue {
		w.write("...")
		return false
	}
	return true
}

// Bounds for walks through collections.
const mostBuckets = 1 << 12

// entries are the keys and values of a map. do returns false when it wants no more.
type entriesOf func(w *writer, object, class uint64, do func(key, value uint64) bool) bool

// hashEntries goes through a map whose entries are in a table of lists, in the order of Java's own
// iterators.
func hashEntries(node, value string) entriesOf {
	return func(w *writer, object, class uint64, do func(key, value uint64) bool) bool {
		table, ok := w.at(object, "java/util/HashMap", "table")
		if !ok {
			table, ok = w.at(object, w.className(class), "table")
		}
		if !ok || table == 0 {
			return ok
		}
		data, n, ok := w.arrayOf(table, w.classOf(table))
		for i := uint64(0); ok && i < n; i++ {
			if i == mostBuckets {
				return false
			}
			at := w.moved(w.reference(data + i*w.referenceSize()))
			if w.className(w.classOf(at)) == "java/util/concurrent/ConcurrentHashMap$TreeBin" {
				at, ok = w.at(at, "java/util/concurrent/ConcurrentHashMap$TreeBin", "first")
			}
			for hops := 0; ok && at != 0; hops++ {
				k, is := w.at(at, node, "key")
				v, has := w.at(at, node, value)
				if !is || !has || k == 0 && value == "val" || hops == mostBuckets {
					return false // a map that grows just now
				}
				if !do(k, v) {
					return true
				}
				at, ok = w.at(at, node, "next")
			}
		}
		return ok
	}
}

// linkedEntries goes through a LinkedHashMap in the order in which its entries were put in.
func linkedEntries(w *writer, object, _ uint64, do func(key, value uint64) bool) bool {
	const node, linked = "java/util/HashMap$Node", "java/util/LinkedHashMap$Entry"
	at, ok := w.at(object, "java/util/LinkedHashMap", "head")
	for hops := 0; ok && at != 0; hops++ {
		k, is := w.at(at, node, "key")
		v, has := w.at(at, node, "value")
		if !is || !has || hops == mostBuckets {
			return false
		}
		if !do(k, v) {
			return true
		}
		at, ok = w.at(at, linked, "after")
	}
	return ok
}

// treeEntries goes through a TreeMap in the order of its keys.
func treeEntries(w *writer, object, _ uint64, do func(key, value uint64) bool) bool {
	const node = "java/util/TreeMap$Entry"
	at, ok := w.at(object, "java/util/TreeMap", "root")
	var above []uint64
	for ok && (at != 0 || len(above) > 0) {
		for ; ok && at != 0; at, ok = w.at(at, node, "left") {
			if above = append(above, at); len(above) > 64 {
				return false
			}
		}
		if !ok {
			break
		}
		at, above = above[len(above)-1], above[:len(above)-1]
		k, is := w.at(at, node, "key")
		v, has := w.at(at, node, "value")
		if !is || !has {
			return false
		}
		if !do(k, v) {
			return true
		}
		at, ok = w.at(at, node, "right")
	}
	return ok
}

// writeMap writes a map as AbstractMap.toString does.
func (w *writer) writeMap(object, class uint64, each entriesOf) bool {
	w.write("{")
	n := 0
	ok := each(w, object, class, func(key, value uint64) bool {
		if !w.another(n) {
			return false
		}
		n++
		w.object(key)
		w.write("=")
		w.object(value)
		return true
	})
	w.write("}")
	return ok
}

func (w *writer) hashMap(object, class uint64) bool {
	return w.writeMap(object, class, hashEntries("java/util/HashMap$Node", "value"))
}

func (w *writer) linkedHashMap(object, class uint64) bool {
	return w.writeMap(object, class, linkedEntries)
}

func (w *writer) concurrentMap(object, class uint64) bool {
	return w.writeMap(object, class, hashEntries("java/util/concurrent/ConcurrentHashMap$Node", "val"))
}

func (w *writer) treeMap(object, class uint64) bool {
	return w.writeMap(object, class, treeEntries)
}

// mapSet writes a set that has its elements as the keys of a map.
func (w *writer) mapSet(object, class uint64) bool {
	m, ok := w.at(object, "java/util/HashSet", "map")
	of := w.classOf(m)
	each := hashEntries("java/util/HashMap$Node", "value")
	switch name := w.className(of); {
	case !ok || name != "java/util/HashMap" && name != "java/util/LinkedHashMap":
		return false
	case name == "java/util/LinkedHashMap":
		each = linkedEntries
	}
	w.write("[")
	n := 0
	ok = each(w, m, of, func(key, _ uint64) bool {
		if !w.another(n) {
			return false
		}
		n++
		w.object(key)
		return true
	})
	w.write("]")
	return ok
}

// referenceSize returns how many bytes a reference takes in an object.
func (r *reading) referenceSize() uint64 {
	if r.narrowOops {
		return 4
	}
	return 8
}
