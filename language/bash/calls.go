package bash

import "github.com/sfwalk/sfwalk/language/internal/structs"

// call is a function or a sourced file that has not ended.
type call struct {
	name, file string
	from       string // the line from which it was called, as the script has it; "" if that is not noted yet
	at         uint64 // the element of FUNCNAME
}

// Bounds of what is read of one shell.
const (
	mostBuckets   = 1 << 20 // of a table of variables
	mostVariables = 1 << 12 // in one bucket
	mostCalls     = 1 << 17
	mostBytes     = 16 << 20 // of all texts together; calls further in have none
)

// calls returns the calls of the shell, the outermost first. The first one is the script, if bash
// was given a file. A call is pushed onto one array after the other: the innermost one may lack its
// file and its line.
func (r *runtime) calls(m *structs.Reader) (list []call, err error) {
	var arrays [3][]element
	for i, name := range []string{"FUNCNAME", "BASH_SOURCE", "BASH_LINENO"} {
		if arrays[i], err = r.array(m, name); err != nil {
			return nil, err
		}
	}
	left := mostBytes
	text := func(list []element, i int) string {
		if i >= len(list) || left <= 0 {
			return ""
		}
		text := m.CString(list[i].value)
		left -= len(text)
		return text
	}
	for i, e := range arrays[0] {
		list = append(list, call{text(arrays[0], i), text(arrays[1], i), text(arrays[2], i), e.at})
	}
	return list, m.Err()
}

// element is one of an array.
type element struct{ at, value uint64 }

// array returns the elements of an array of the shell's, the one with the largest index first; none
// if there is no such variable, for a script may have unset it.
func (r *runtime) array(m *structs.Reader, name string) (list []element, err error) {
	variable := r.variable(m, name)
	if variable == 0 || m.Uint(variable+variableAttributes, 4)&attributeArray == 0 {
		return nil, m.Err()
	}
	array := m.Pointer(variable + variableValue)
	head := m.Pointer(array + r.head)
	if m.OK() && m.Int(head+elementIndex, 8) != -1 {
		m.Fail("the array %s at %#x makes no sense", name, array)
	}
	at, before := m.Pointer(head+elementPrevious), head
	for m.OK() && at != head {
		if len(list) == mostCalls || m.Pointer(at+elementNext) != before {
			m.Fail("the array %s at %#x makes no sense", name, array)
			break
		}
		list = append(list, element{at, m.Pointer(at + elementValue)})
		at, before = m.Pointer(at+elementPrevious), at
	}
	return list, m.Err()
}

// variable returns the address of a global variable of the shell's, 0 if there is none.
func (r *runtime) variable(m *structs.Reader, name string) uint64 {
	table := m.Pointer(m.Pointer(r.globals) + contextTable)
	buckets, n := m.Pointer(table+tableBuckets), m.Uint(table+tableSize, 4)
	if !m.OK() || n == 0 || n > mostBuckets {
		return 0
	}
	at := m.Pointer(buckets + 8*(uint64(hash(name))&(n-1)))
	for range mostVariables {
		if at == 0 || !m.OK() {
			break
		}
		if m.Text(m.Pointer(at+bucketKey), uint64(len(name))+1) == name+"\x00" {
			return m.Pointer(at + bucketData)
		}
		at = m.Pointer(at + bucketNext)
	}
	return 0
}

// hash is bash's hash_string, FNV-1.
func hash(s string) uint32 {
	const begin, prime = 2166136261, 16777619
	h := uint32(begin)
	for _, c := range []byte(s) {
		h = h*prime ^ uint32(c)
	}
	return h
}
