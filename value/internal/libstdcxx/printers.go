package libstdcxx

import (
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// Printer knows the types of GCC's libstdc++, and writes them as the library's own printers for GDB
// do.
type Printer struct{}

// Name implements value.PrettyPrinter.
func (Printer) Name() string { return "libstdc++" }

// For implements value.PrettyPrinter.
func (Printer) For(t *value.Type) value.Show {
	print, name := find(t)
	if print == nil {
		return nil
	}
	return func(w *value.Writer, v *value.Value) *value.Shown {
		return print(object{&cxx.Object{W: w, V: v, T: v.Type.Strip(), Name: name}})
	}
}

// find returns the printer of a type, and the type's name without the arguments of its template.
func find(t *value.Type) (print printer, name string) {
	p := printers()
	name, short := cxx.NameOf(t, p.names)
	name = strings.Replace(name, "__8::", "", 1)
	if spaces[strings.TrimSuffix(name, short)] {
		if print = p.inSpaces[short]; print != nil {
			return print, name
		}
	}
	return p.elsewhere[name], name
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

// spaces are the namespaces of containers: with the two that the library has in debug mode.
var spaces = map[string]bool{
	"std::": true, "std::__cxx11::": true, "std::__debug::": true, "std::__cxx1998::": true,
	"std::__cxx11::__cxx1998::": true, "std::__cxx1998::__cxx11::": true, "std::tr1::": true,
	"std::experimental::fundamentals_v1::": true, "std::_V2::": true,
}

// all are the library's printers.
type all struct {
	inSpaces  map[string]printer // of types in one of the spaces, by their names without it
	elsewhere map[string]printer // of types in other namespaces
	names     map[string]bool    // of all of them, without namespaces
}

// printers makes them when the first type is asked for, not at the start of each program.
var printers = sync.OnceValue(func() *all {
	p := &all{inSpaces: inSpaces(), elsewhere: elsewhere(), names: map[string]bool{}}
	for name := range p.inSpaces {
		p.names[name] = true
	}
	for name := range p.elsewhere {
		p.names[cxx.LastName(name)] = true
	}
	return p
})

func inSpaces() map[string]printer {
	return map[string]printer{
		"basic_string":      stringObject,
		"basic_string_view": stringView,

		"vector":             vector,
		"deque":              deque,
		"list":               listObject,
		"forward_list":       forwardList,
		"initializer_list":   initializerList,
		"span":               span,
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
		"_Node_handle":       nodeHandle,

		"pair":       shared(cxx.Pair),
		"tuple":      tuple,
		"optional":   optional,
		"variant":    variantObject,
		"any":        anyObject,
		"unique_ptr": uniquePtr,
		"shared_ptr": sharedPtr,
		"weak_ptr":   sharedPtr,
		"atomic":     atomic,

		"error_code":       shared(cxx.ErrorCode),
		"error_condition":  shared(cxx.ErrorCode),
		"partial_ordering": shared(cxx.Ordering),
		"weak_ordering":    shared(cxx.Ordering),
		"strong_ordering":  shared(cxx.Ordering),

		"_List_iterator":           listIterator,
		"_List_const_iterator":     listIterator,
		"_Fwd_list_iterator":       listIterator,
		"_Fwd_list_const_iterator": listIterator,
		"_Rb_tree_iterator":        treeIterator,
		"_Rb_tree_const_iterator":  treeIterator,
		"_Deque_iterator":          pointerIterator,
		"_Deque_const_iterator":    pointerIterator,
		"_Bit_iterator":            bitIterator,
		"_Bit_const_iterator":      bitIterator,
		"_Bit_reference":           bitIterator,
	}
}

func elsewhere() map[string]printer {
	return map[string]printer{
		"__gnu_cxx::__normal_iterator":                     pointerIterator,
		"__gnu_cxx::slist":                                 slist,
		"__gnu_cxx::_Slist_iterator":                       slistIterator,
		"__gnu_debug::_Safe_iterator":                      debugIterator,
		"std::filesystem::path":                            path,
		"std::filesystem::__cxx11::path":                   path,
		"std::experimental::filesystem::v1::path":          experimentalPath,
		"std::experimental::filesystem::v1::__cxx11::path": experimentalPath,
		"std::__detail::_State":                            regexState,
	}
}
