package value

import "strings"

// libcxx are the printers of types of LLVM's libc++, by their names behind the namespace of its ABI: "std::__1::" is the usual one,
// "std::__ndk1::" Android's. Releases have members of other names and layouts: the printers go by the members.
var libcxx map[string]printer

// libcxxName returns the name of a type of libc++ without the namespace of the ABI, and that namespace: "vector" and
// "__1::" of "std::__1::vector". ok is false if the name is of no such form.
func libcxxName(name string) (short, abi string, ok bool) {
	rest, ok := strings.CutPrefix(name, "std::")
	if !ok || !strings.HasPrefix(rest, "__") {
		return "", "", false
	}
	i := strings.Index(rest, "::")
	if i < 0 || cxxSpaces["std::"+rest[:i+2]] {
		return "", "", false
	}
	return rest[i+2:], rest[:i+2], true
}

func libcxxPrinters() map[string]printer {
	return map[string]printer{
		"basic_string":      libcxxString,
		"basic_string_view": libcxxView,

		"vector":             libcxxVector,
		"deque":              libcxxDeque,
		"list":               libcxxList,
		"forward_list":       libcxxForwardList,
		"initializer_list":   libcxxCounted,
		"span":               libcxxCounted,
		"bitset":             libcxxBitset,
		"stack":              adaptor,
		"queue":              adaptor,
		"priority_queue":     adaptor,
		"map":                libcxxTree,
		"multimap":           libcxxTree,
		"set":                libcxxTree,
		"multiset":           libcxxTree,
		"unordered_map":      libcxxHashTable,
		"unordered_multimap": libcxxHashTable,
		"unordered_set":      libcxxHashTable,
		"unordered_multiset": libcxxHashTable,

		"__basic_node_handle": libcxxNodeHandle,

		"pair":       pair,
		"tuple":      libcxxTuple,
		"optional":   libcxxOptional,
		"expected":   libcxxExpected,
		"variant":    libcxxVariant,
		"any":        libcxxAny,
		"function":   libcxxFunction,
		"unique_ptr": libcxxUniquePtr,
		"shared_ptr": libcxxSharedPtr,
		"weak_ptr":   libcxxSharedPtr,
		"atomic":     libcxxAtomic,

		"filesystem::path":       libcxxPath,
		"__fs::filesystem::path": libcxxPath,

		"error_code":       errorCode,
		"error_condition":  errorCode,
		"partial_ordering": ordering,
		"weak_ordering":    ordering,
		"strong_ordering":  ordering,

		"__wrap_iter":                   libcxxPointerIterator,
		"__deque_iterator":              libcxxPointerIterator,
		"__list_iterator":               libcxxListIterator,
		"__list_const_iterator":         libcxxListIterator,
		"__forward_list_iterator":       libcxxListIterator,
		"__forward_list_const_iterator": libcxxListIterator,
		"__tree_iterator":               libcxxTreeIterator,
		"__tree_const_iterator":         libcxxTreeIterator,
		"__map_iterator":                libcxxTreeIterator,
		"__map_const_iterator":          libcxxTreeIterator,
		"__hash_iterator":               libcxxHashIterator,
		"__hash_const_iterator":         libcxxHashIterator,
		"__hash_local_iterator":         libcxxHashIterator,
		"__hash_const_local_iterator":   libcxxHashIterator,
		"__hash_map_iterator":           libcxxHashIterator,
		"__hash_map_const_iterator":     libcxxHashIterator,
		"__bit_iterator":                libcxxBitIterator,
		"__bit_reference":               libcxxBitIterator,
		"__bit_const_reference":         libcxxBitIterator,
	}
}

// without returns a name without the namespace of libc++'s ABI.
func (o *object) without(name string) string {
	if o.abi == "" {
		return name
	}
	return strings.ReplaceAll(name, "std::"+o.abi, "std::")
}

// libcxxMember returns the first member of an object that has one of some names. If it is a __compressed_pair, as before LLVM 20, that is the first
// of the pair; since then both are members of the object.
func (v *Value) libcxxMember(names ...string) (Value, bool) {
	for _, name := range names {
		m, ok := v.oneMember(name, 0)
		if !ok {
			continue
		}
		if template, _ := cxxTemplate(m.Type.Strip().Name); template == "__compressed_pair" {
			first, ok := m.base(0)
			if ok {
				m, ok = first.oneMember("__value_", 0)
			}
			if !ok {
				return Value{}, false
			}
		}
		return m, m.Err() == nil
	}
	return Value{}, false
}

// libcxxPointer is libcxxMember of a pointer: where it points to, and to what.
func (v *Value) libcxxPointer(names ...string) (addr uint64, elem *Type, ok bool) {
	m, ok := v.libcxxMember(names...)
	if !ok {
		return 0, nil, false
	}
	t := m.Type.Strip()
	addr, err := m.Uint()
	if t.Kind != Pointer || err != nil {
		return 0, nil, false
	}
	return addr, t.Elem(), true
}

// libcxxNumber is libcxxMember of a number.
func (v *Value) libcxxNumber(names ...string) (int64, bool) {
	m, ok := v.libcxxMember(names...)
	if !ok {
		return 0, false
	}
	n, err := m.Int()
	return n, err == nil
}
