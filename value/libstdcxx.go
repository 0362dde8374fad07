package value

import (
	"strings"
	"sync"
)

// cxxLibrary writes a value of a type of C++'s standard library as GDB does with the library's own printers.
func (w *Writer) cxxLibrary(v *Value, t *Type) bool {
	if t.Kind == Reference { // to an object of the library: that is written in its place
		if v.Err() != nil || cxxPrinter(t.Elem().Strip()) == nil {
			return false
		}
		to := v.Deref()
		if err := to.Err(); err != nil {
			if !Gone(err) {
				w.abort(err)
				return true
			}
			return false
		}
		return w.cxxLibrary(&to, to.Type.Strip())
	}
	s := w.cxxShown(v, t)
	if s == nil {
		return false
	}
	w.shown(s)
	return true
}

// cxxShown returns how an object of the library is written; nil if it is none, or is not as the library makes it.
func (w *Writer) cxxShown(v *Value, t *Type) *shown {
	print := cxxPrinter(t)
	if print == nil || w.nesting > maxNesting {
		return nil
	}
	if v.Err() != nil && len(v.gaps) == 0 { // of an object that is known in part, what is asked for may be there
		return nil
	}
	name, _ := cxxTemplate(t.FullName())
	o := &object{w: w, v: v, t: t, name: strings.Replace(name, "__8::", "", 1)}
	if _, abi, ok := libcxxName(name); ok {
		o.abi = abi
		o.name = o.without(name)
	}
	return print(o)
}

// object is an object of C++'s standard library that is to be written.
type object struct {
	w    *Writer
	v    *Value
	t    *Type
	name string // of the type, without the template's arguments, and without libc++'s namespace
	abi  string // libc++'s namespace, within std: "__1::"; "" of other libraries
}

// printer says how an object is written. It returns nil if the object does not have the members that it must have.
type printer func(o *object) *shown

// cxxPrinter returns the printer of a type; nil if it has none.
func cxxPrinter(t *Type) printer {
	if t.Kind != Struct && t.Kind != Union || t.Declared || t.Name == "" {
		return nil
	}
	i := strings.IndexByte(t.Name, '<')
	if i < 0 {
		i = len(t.Name)
	}
	short := t.Name[:i]
	printersOnce.Do(makePrinters)
	if !cxxNames[short] {
		return nil
	}
	name, ok := cxxTemplate(t.FullName())
	if !ok {
		return nil
	}
	space, ok := strings.CutSuffix(strings.Replace(name, "__8::", "", 1), short)
	if !ok {
		return nil
	}
	if p := libstdcxx[short]; p != nil && cxxSpaces[space] {
		return p
	}
	if p := libstdcxxElsewhere[space+short]; p != nil {
		return p
	}
	if name, _, ok := libcxxName(name); ok {
		return libcxx[name]
	}
	return nil
}

// cxxTemplate returns the name of a template from that of a type made of it. ok is false if the type is a member of such a type.
func cxxTemplate(name string) (template string, ok bool) {
	i := strings.IndexByte(name, '<')
	if i < 0 {
		return name, true
	}
	depth := 0
	for k := i; k < len(name); k++ {
		switch name[k] {
		case '<', '(':
			depth++
		case '>', ')':
			depth--
		}
		if depth == 0 && k != len(name)-1 {
			return name[:i], false
		}
	}
	return name[:i], true
}

// cxxSpaces are the namespaces of containers: with the two that the library has in debug mode.
var cxxSpaces = map[string]bool{
	"std::": true, "std::__cxx11::": true, "std::__debug::": true, "std::__cxx1998::": true, "std::__cxx11::__cxx1998::": true,
	"std::__cxx1998::__cxx11::": true, "std::tr1::": true, "std::experimental::fundamentals_v1::": true, "std::_V2::": true,
}

// libstdcxx are the printers of types in one of the cxxSpaces.
var libstdcxx map[string]printer

// libstdcxxElsewhere are those of types in other namespaces.
var libstdcxxElsewhere map[string]printer

// printersOnce has makePrinters called when the first name is looked up, not at the start of each program.
var printersOnce sync.Once

// cxxNames are the names of all types that have printers, without namespaces.
var cxxNames = map[string]bool{}

func makePrinters() {
	libstdcxx = map[string]printer{
		"basic_string":      stringObject,
		"basic_string_view": stringView,

		"vector":             vector,
		"deque":              deque,
		"list":               listObject,
		"forward_list":       forwardList,
		"initializer_list":   initializerList,
		"span":               span,
		"bitset":             bitset,
		"stack":              adaptor,
		"queue":              adaptor,
		"priority_queue":     adaptor,
		"map":                tree,
		"multimap":           tree,
		"set":                tree,
		"multiset":           tree,
		"unordered_map":      hashTable,
		"unordered_multimap": hashTable,
		"unordered_set":      hashTable,
		"unordered_multiset": hashTable,
		"_Node_handle":       nodeHandle,

		"pair":       pair,
		"tuple":      tuple,
		"optional":   optional,
		"variant":    variantObject,
		"any":        anyObject,
		"unique_ptr": uniquePtr,
		"shared_ptr": sharedPtr,
		"weak_ptr":   sharedPtr,
		"atomic":     atomic,

		"error_code":       errorCode,
		"error_condition":  errorCode,
		"partial_ordering": ordering,
		"weak_ordering":    ordering,
		"strong_ordering":  ordering,

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
	libstdcxxElsewhere = map[string]printer{
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
	libcxx = libcxxPrinters()
	for name := range libcxx {
		cxxNames[lastName(name)] = true
	}
	for name := range libstdcxx {
		cxxNames[name] = true
	}
	for name := range libstdcxxElsewhere {
		cxxNames[lastName(name)] = true
	}
}

// lastName returns a name without the scopes before it.
func lastName(name string) string {
	if i := strings.LastIndex(name, "::"); i >= 0 {
		return name[i+2:]
	}
	return name
}
