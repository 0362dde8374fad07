package libcxx

import (
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// optional writes a std::optional of libc++.
func optional(o object) *value.Shown {
	of := o.T.Argument(0)
	if of == nil {
		return nil
	}
	name := o.Name + "<" + o.ShortName(of) + ">"
	engaged, ok := cxx.FirstNumber(o.V, "__engaged_")
	if !ok { // of a reference
		p, _, ok := cxx.FirstPointer(o.V, "__value_")
		if !ok || of.Strip().Kind != value.Reference {
			return nil
		}
		if engaged = 1; p == 0 {
			engaged = 0
		}
		if engaged != 0 {
			v := o.At(of.Strip().Elem(), p)
			return o.Containing(name, &v)
		}
	}
	if engaged == 0 {
		return &value.Shown{Text: name + " [no contained value]", Children: cxx.Nothing}
	}
	v, ok := o.V.Member("__val_")
	if !ok {
		return nil
	}
	return o.Containing(name, &v)
}

// expected writes a std::expected of libc++.
func expected(o object) *value.Shown {
	list := o.T.TemplateArguments()
	if len(list) != 2 || list[0].Value != nil || list[1].Value != nil {
		return nil
	}
	in := *o.V
	for _, name := range [...]string{"__base_", "__repr_"} { // since LLVM 18
		if m, ok := in.Member(name); ok {
			in = m
			if m, ok := in.Member("__v"); ok { // in a class that keeps others out of its padding
				in = m
			}
		}
	}
	has, ok := in.Member("__has_val_")
	n, err := has.Uint()
	if !ok || err != nil {
		return nil
	}
	s := &value.Shown{Text: o.Name + "<" + o.ShortName(list[0].Type) + ", " + o.ShortName(list[1].Type) + ">"}
	name, member := "[expected value]", "__val_"
	if n == 0 {
		name, member = "[unexpected value]", "__unex_"
	}
	v, ok := in.Member(member)
	if u, is := in.Member("__union_"); is {
		v, ok = u.Member(member)
		if w, is := u.Member("__v"); !ok && is {
			v, ok = w.Member(member)
		}
	}
	switch {
	case ok:
	case n != 0 && list[0].Type.Strip().Kind == value.Void:
		s.Text += " [expected]"
		s.Children = cxx.Nothing
		return s
	default:
		return nil
	}
	s.Children = func(yield func(value.Child, error) bool) { yield(value.Child{Name: name, Value: v}, nil) }
	return s
}

// variant writes a std::variant of libc++.
func variant(o object) *value.Shown {
	in, ok := cxx.First(o.V, "__impl_", "__impl")
	if !ok {
		return nil
	}
	m, ok := cxx.Member(&in, "__index")
	storage, ok2 := in.Member("__data")
	n, err := m.Uint()
	if !ok || !ok2 || err != nil {
		return nil
	}
	return o.Variant(n, &storage)
}

// anyObject writes a std::any of libc++. The function that manages its object is a member of a
// class with the object's type.
func anyObject(o object) *value.Shown {
	manager, _, ok := cxx.FirstPointer(o.V, "__h_", "__h")
	storage, ok2 := cxx.First(o.V, "__s_", "__s")
	if !ok || !ok2 {
		return nil
	}
	if manager == 0 {
		return &value.Shown{Text: o.Name + " [no contained value]", Children: cxx.Nothing}
	}
	handler := o.handler(manager)
	if handler == nil {
		return nil
	}
	of := handler.Argument(0)
	if of == nil {
		return nil
	}
	var v value.Value
	if template, _ := cxx.Template(handler.Name); template == "_LargeHandler" {
		at, _, ok := cxx.FirstPointer(&storage, "__ptr")
		if !ok {
			return nil
		}
		v = o.At(of, at)
	} else {
		buffer, ok := cxx.Member(&storage, "__buf")
		if !ok {
			return nil
		}
		v = buffer.Part(of, 0)
	}
	return o.held(o.Name, o.ShortName(of), &v)
}

// held writes an object that may contain a value of any type, here of one with a name.
func (o object) held(name, of string, v *value.Value) *value.Shown {
	return o.Contained(v, value.ByName, func(container string, is bool) string {
		if is {
			return name + " containing " + container
		}
		return name + " containing " + of
	})
}

// handler returns the class of a member function at an address; nil if it is not known.
func (o object) handler(pc uint64) *value.Type {
	r := o.T.Reader()
	code, ok := r.CodeAt(pc)
	name, _, named := r.SymbolAt(pc)
	if !ok || !named {
		return nil
	}
	class, ok := classOf(name)
	if !ok {
		return nil
	}
	return code.TypeNamed(class)
}

// classOf returns the class of a member function, by the function's demangled name.
func classOf(name string) (class string, ok bool) {
	depth := 0
	for i := 0; i+1 < len(name); i++ {
		switch name[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth == 0 && class != "" {
				return class, true
			}
		case ':':
			if depth == 0 && name[i+1] == ':' {
				class = name[:i]
			}
		}
	}
	return class, class != ""
}

// function writes a std::function of libc++: what it calls.
func function(o object) *value.Shown {
	list := o.T.TemplateArguments()
	in, ok := o.V.Member("__f_")
	if !ok || len(list) != 1 || list[0].Value != nil {
		return nil
	}
	at, _, ok := cxx.FirstPointer(&in, "__f_")
	if !ok {
		return nil
	}
	name := o.Name + "<" + o.Without(list[0].Type.String()) + ">"
	if at == 0 {
		return &value.Shown{Text: name + " [no contained value]", Children: cxx.Nothing}
	}
	table, err := o.Word(at)
	if err != nil {
		return &value.Shown{Err: err}
	}
	t := o.ofTable(table, "__func")
	if t == nil {
		return nil
	}
	target := t.Argument(0)
	if target == nil {
		return nil
	}
	v := o.At(t, at)
	f, ok := cxx.First(&v, "__f_", "__func_") // since LLVM 21 the target itself; before, an __alloc_func
	if inner, is := cxx.First(&f, "__f_"); ok && is && strings.HasPrefix(f.Type.Strip().Name, "__alloc_func") {
		f = inner
	} else if f.Type.Strip() != target.Strip() { // of an empty class
		f = o.At(target, at+o.PtrSize())
	}
	of := o.ShortName(target)
	if target.Name == "" && target.Kind == value.Struct { // a lambda, which has a name in the table's symbol alone
		if text, _, ok := o.T.Reader().SymbolAt(table); ok {
			if first, ok := firstArgument(text); ok {
				of = o.Without(first)
			}
		}
	}
	return o.held(name, of, &f)
}

// firstArgument returns the first argument of the template in a symbol's name.
func firstArgument(name string) (first string, ok bool) {
	_, list := symbol.SplitTemplate(name)
	if len(list) == 0 {
		return "", false
	}
	return list[0], true
}

// ofTable returns the class, made of a template, of objects with a table of virtual functions: the
// class of what "this" is in one of the functions. Others may be of a base. It is nil if none of
// the first few has debug information.
func (o object) ofTable(table uint64, template string) *value.Type {
	is := func(t *value.Type) bool {
		if t == nil || t.Kind != value.Struct {
			return false
		}
		name, _ := cxx.Template(t.Name)
		return name == template
	}
	r := o.T.Reader()
	for slot := range uint64(8) {
		pc, err := o.Word(table + slot*o.PtrSize())
		if err != nil || !r.Modules.IsCode(pc) {
			return nil
		}
		code, ok := r.CodeAt(pc)
		if !ok {
			continue
		}
		for _, x := range code.Variables {
			if t := x.Type.Strip(); x.Name == "this" && t.Kind == value.Pointer && is(t.Elem().Strip()) {
				return t.Elem().Strip()
			}
		}
		if t := o.handler(pc); is(t) { // "this" is left out of optimized code
			return t
		}
	}
	return nil
}

// nodeHandle writes the handle of a node that was taken out of a container of libc++.
func nodeHandle(o object) *value.Shown {
	at, _, ok := cxx.FirstPointer(o.V, "__ptr_")
	node := o.T.Argument(0)
	if !ok || node == nil {
		return nil
	}
	held := node.Strip().Argument(0)
	elem := o.element(held)
	if elem == nil {
		return nil
	}
	name, offset := "node handle for ", o.treeValue(elem.Alignment(false))
	if strings.HasPrefix(node.Strip().Name, "__hash_node") {
		name += "unordered "
		offset = cxx.AlignUp(2*o.PtrSize(), elem.Alignment(false))
	}
	kind := "set"
	if strings.Contains(o.T.Name, "__map_node_handle_specifics") {
		kind = "map"
	}
	return o.Handle(name+kind, at, elem, at+offset)
}
