package java

import (
	"fmt"
	"strings"
)

// arrayOf returns where the elements of an array are, and how many there are.
func (r *reading) arrayOf(array, class uint64) (data, n uint64, ok bool) {
	helper, ok := r.number(class, "Klass::_layout_helper")
	length := array + 16
	if r.compact {
		length = array + 8
	} else if r.narrowClasses {
		length = array + 12
	}
	n, is := r.small(length)
	if !ok || !is || n > 1<<31-1 {
		return 0, 0, false
	}
	return array + uint64(helper)>>16&0xff, n, true
}

// array writes an array as jshell does: `int[2] { 1, 2 }`. Its elements have this descriptor.
func (w *writer) array(array, class uint64, element string) bool {
	data, n, ok := w.arrayOf(array, class)
	if !ok || descriptorLength(element) != len(element) {
		return false
	}
	name := spokenClass("[" + element)
	of := strings.TrimRight(name, "[]")
	w.write(fmt.Sprintf("%s[%d]%s ", of[strings.LastIndexByte(of, '.')+1:], n, name[len(of)+2:]))
	size := uint64(sizes[element])
	if isReference(element) {
		size = w.referenceSize()
	}
	if n == 0 {
		w.write("{ }")
		return true
	}
	w.write("{ ")
	w.items(n, func(i uint64) { w.value(element, data+i*size) })
	w.write(" }")
	return true
}

// items writes n items, of which do writes each.
func (w *writer) items(n uint64, do func(i uint64)) {
	for i := range n {
		if i > 0 {
			w.write(", ")
		}
		if i == mostItems || w.text.Len() > mostValue {
			w.write("...")
			break
		}
		do(i)
	}
}
