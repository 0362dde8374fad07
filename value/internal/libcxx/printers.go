package libcxx

import (
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// Printer knows the types of LLVM's libc++, and writes them in the words of libstdc++'s printers
// for GDB. Releases have members of other names and layouts: it goes by the members.
type Printer struct{}

// Name implements value.PrettyPrinter.
func (Printer) Name() string { return "libc++" }

// For implements value.PrettyPrinter.
func (Printer) For(t *value.Type) value.Show {
	whole, _ := cxx.NameOf(t, names())
	name, abi, ok := ownName(whole)
	print := printers()[name]
	if whole == "std::initializer_list" { // compilers ask for this one
		print, ok = counted, true
	}
	if !ok || print == nil {
		return nil
	}
	return func(w *value.Writer, v *value.Value) *value.Shown {
		o := &cxx.Object{W: w, V: v, T: v.Type.Strip(), ABI: abi}
		o.Name = o.Without(whole)
		return print(object{o})
	}
}

// object is an object of the library that is to be written.
type object struct{ *cxx.Object }

// printer says how an object is written. It returns nil if the object does not have the members
// that it must have.
type printer func(o object) *value.Shown

// shared is a printer of both C++ libraries.
func shared(p func(o *cxx.Object) *value.Shown) printer {
	return func(o object) *value.Shown { return p(o.Object) }
}

// ownName returns the name of a type without the namespace of the library's ABI, and that
// namespace: "vector" and "__1::" of "std::__1::vector". The usual namespace is __1, Android's is
// __ndk1. ok is false if the name is of no such form.
func ownName(whole string) (name, abi string, ok bool) {
	rest, ok := strings.CutPrefix(whole, "std::")
	if !ok || !strings.HasPrefix(rest, "__") {
		return "", "", false
	}
	abi, name, ok = strings.Cut(rest, "::")
	switch abi {
	case "__cxx11", "__debug", "__cxx1998": // libstdc++'s
		return "", "", false
	}
	return name, abi + "::", ok
}

// names are the names of all types that have printers, without namespaces.
var names = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for name := range printers() {
		names[cxx.LastName(name)] = true
	}
	return names
})

// printers are the library's printers, by the names of types behind the namespace of its ABI. They
// are made when the first type is asked for, not at the start of each program.
var printers = sync.OnceValue(func() map[string]printer {
	return map[string]printer{
		"basic_string":      text,
		"basic_string_view": view,

		"vector":             vector,
		"deque":              deque,
		"list":               list,
		"forward_list":       forwardList,
		"initializer_list":   counted,
		"span":               counted,
		"bitset":             bitset,
		"stack":              shared(cxx.Adaptor),
		"queue":              shared(cxx.Adaptor),
		"priority_queue":     shared(cxx.Adaptor),
		"map":                tree,
		"multimap":           tree,
		"set":                tree,
		"multiset":           tree,
		"unordered_map":      hashTable,
		"unordered_multimap": hashTable,
		"unordered_set":      hashTable,
		"unordered_multiset": hashTable,

		"__basic_node_handle": nodeHandle,

		"pair":       shared(cxx.Pair),
		"tuple":      tuple,
		"optional":   optional,
		"expected":   expected,
		"variant":    variant,
		"any":        anyObject,
		"function":   function,
		"unique_ptr": uniquePtr,
		"shared_ptr": sharedPtr,
		"weak_ptr":   sharedPtr,
		"atomic":     atomic,

		"filesystem::path":       path,
		"__fs::filesystem::path": path,

		"error_code":       shared(cxx.ErrorCode),
		"error_condition":  shared(cxx.ErrorCode),
		"partial_ordering": shared(cxx.Ordering),
		"weak_ordering":    shared(cxx.Ordering),
		"strong_ordering":  shared(cxx.Ordering),

		"__wrap_iter":                   pointerIterator,
		"__deque_iterator":              pointerIterator,
		"__list_iterator":               listIterator,
		"__list_const_iterator":         listIterator,
		"__forward_list_iterator":       listIterator,
		"__forward_list_const_iterator": listIterator,
		"__tree_iterator":               treeIterator,
		"__tree_const_iterator":         treeIterator,
		"__map_iterator":                treeIterator,
		"__map_const_iterator":          treeIterator,
		"__hash_iterator":               hashIterator,
		"__hash_const_iterator":         hashIterator,
		"__hash_local_iterator":         hashIterator,
		"__hash_const_local_iterator":   hashIterator,
		"__hash_map_iterator":           hashIterator,
		"__hash_map_const_iterator":     hashIterator,
		"__bit_iterator":                bitIterator,
		"__bit_reference":               bitIterator,
		"__bit_const_reference":         bitIterator,
	}
})
