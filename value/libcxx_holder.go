package value

import (
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
)

// containing writes an object of a library that contains a value.
func (o *object) containing(name string, v *Value) *shown {
	return o.contained(v, byName, func(container string, is bool) string {
		if is {
			return name + " containing " + container
		}
		return name
	})
}

// libcxxOptional writes a std::optional of libc++.
func libcxxOptional(o *object) *shown {
	of := o.t.argument(0)
	if of == nil {
		return nil
	}
	name := o.name + "<" + o.shortName(of) + ">"
	engaged, ok := o.v.libcxxNumber("__engaged_")
	if !ok { // of a reference
		p, _, ok := o.v.libcxxPointer("__value_")
		if !ok || of.Strip().Kind != Reference {
			return nil
		}
		if engaged = 1; p == 0 {
			engaged = 0
		}
		if engaged != 0 {
			v := o.at(of.Strip().Elem(), p)
			return o.containing(name, &v)
		}
	}
	if engaged == 0 {
		return &shown{text: name + " [no contained value]", children: nothing}
	}
	v, ok := o.v.oneMember("__val_", 0)
	if !ok {
		return nil
	}
	return o.containing(name, &v)
}

// libcxxExpected writes a std::expected of libc++.
func libcxxExpected(o *object) *shown {
	list := o.t.TemplateArguments()
	if len(list) != 2 || list[0].Value != nil || list[1].Value != nil {
		return nil
	}
	in := *o.v
	for _, name := range [...]string{"__base_", "__repr_"} { // since LLVM 18
		if m, ok := in.oneMember(name, 0); ok {
			in = m
			if m, ok := in.oneMember("__v", 0); ok { // in a class that keeps others out of its padding
				in = m
			}
		}
	}
	has, ok := in.oneMember("__has_val_", 0)
	n, err := has.Uint()
	if !ok || err != nil {
		return nil
	}
	s := &shown{text: o.name + "<" + o.shortName(list[0].Type) + ", " + o.shortName(list[1].Type) + ">"}
	name, member := "[expected value]", "__val_"
	if n == 0 {
		name, member = "[unexpected value]", "__unex_"
	}
	v, ok := in.oneMember(member, 0)
	if u, is := in.oneMember("__union_", 0); is {
		v, ok = u.oneMember(member, 0)
		if w, is := u.oneMember("__v", 0); !ok && is {
			v, ok = w.oneMember(member, 0)
		}
	}
	switch {
	case ok:
	case n != 0 && list[0].Type.Strip().Kind == Void:
		s.text += " [expected]"
		s.children = nothing
		return s
	default:
		return nil
	}
	s.children = func(yield func(child) bool) { yield(child{name: name, value: v}) }
	return s
}

// libcxxVariant writes a std::variant of libc++.
func libcxxVariant(o *object) *shown {
	in, ok := o.v.libcxxMember("__impl_", "__impl")
	if !ok {
		return nil
	}
	m, ok := in.member("__index")
	storage, ok2 := in.oneMember("__data", 0)
	n, err := m.Uint()
	if !ok || !ok2 || err != nil {
		return nil
	}
	return o.variant(n, &storage)
}

// libcxxAny writes a std::any of libc++. The function that manages its object is a member of a class with the object's type.
func libcxxAny(o *object) *shown {
	manager, _, ok := o.v.libcxxPointer("__h_", "__h")
	storage, ok2 := o.v.libcxxMember("__s_", "__s")
	if !ok || !ok2 {
		return nil
	}
	if manager == 0 {
		return &shown{text: o.name + " [no contained value]", children: nothing}
	}
	handler := o.handler(manager)
	of := handler.argument(0)
	if of == nil {
		return nil
	}
	var v Value
	if template, _ := cxxTemplate(handler.Name); template == "_LargeHandler" {
		at, _, ok := storage.libcxxPointer("__ptr")
		if !ok {
			return nil
		}
		v = o.at(of, at)
	} else {
		buffer, ok := storage.member("__buf")
		if !ok {
			return nil
		}
		v = buffer.as(of)
	}
	return o.held(o.name, o.shortName(of), &v)
}

// held writes an object that may contain a value of any type, here of one with a name.
func (o *object) held(name, of string, v *Value) *shown {
	return o.contained(v, byName, func(container string, is bool) string {
		if is {
			return name + " containing " + container
		}
		return name + " containing " + of
	})
}

// handler returns the class of a member function at an address; a type without anything if it is not known.
func (o *object) handler(pc uint64) *Type {
	r := o.t.r
	scopes, _, err := r.Symbols.Scopes(r.Modules, pc)
	name, _, ok := r.SymbolAt(pc)
	if err != nil || len(scopes) == 0 || !ok {
		return &Type{Kind: Void, r: r, elemRead: true}
	}
	if class, ok := classOf(name); ok {
		if t := r.TypeNamed(class, &Type{r: r, entry: scopes[0].Entry}); t != nil {
			return t
		}
	}
	return &Type{Kind: Void, r: r, elemRead: true}
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

// libcxxFunction writes a std::function of libc++: what it calls.
func libcxxFunction(o *object) *shown {
	list := o.t.TemplateArguments()
	in, ok := o.v.oneMember("__f_", 0)
	if !ok || len(list) != 1 || list[0].Value != nil {
		return nil
	}
	at, _, ok := in.libcxxPointer("__f_")
	if !ok {
		return nil
	}
	name := o.name + "<" + o.without(list[0].Type.String()) + ">"
	if at == 0 {
		return &shown{text: name + " [no contained value]", children: nothing}
	}
	table, err := o.word(at)
	if err != nil {
		return &shown{err: err}
	}
	t := o.ofTable(table, "__func")
	if t == nil {
		return nil
	}
	target := t.argument(0)
	if target == nil {
		return nil
	}
	v := o.at(t, at)
	f, ok := v.libcxxMember("__f_", "__func_") // since LLVM 21 the target itself; before, an __alloc_func
	if inner, is := f.libcxxMember("__f_"); ok && is && strings.HasPrefix(f.Type.Strip().Name, "__alloc_func") {
		f = inner
	} else if f.Type.Strip() != target.Strip() { // of an empty class
		f = o.at(target, at+o.ptrSize())
	}
	of := o.shortName(target)
	if target.Name == "" && target.Kind == Struct { // a lambda, which has a name in the table's symbol alone
		if text, _, ok := o.t.r.SymbolAt(table); ok {
			if first, ok := firstArgument(text); ok {
				of = o.without(first)
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

// ofTable returns the class, made of a template, of objects with a table of virtual functions: that of what "this" is in one of the
// functions. Others may be of a base. It is nil if none of the first few has debug information.
func (o *object) ofTable(table uint64, template string) *Type {
	is := func(t *Type) bool {
		name, _ := cxxTemplate(t.Name)
		return t.Kind == Struct && name == template
	}
	r := o.t.r
	for slot := range uint64(8) {
		pc, err := o.word(table + slot*o.ptrSize())
		if err != nil || !r.Modules.IsCode(pc) {
			return nil
		}
		scopes, _, err := r.Symbols.Scopes(r.Modules, pc)
		if err != nil || len(scopes) == 0 {
			continue
		}
		for _, x := range r.block(&scopes[0], 0) {
			if t := x.Type.Strip(); x.Name == "this" && t.Kind == Pointer && is(t.Elem().Strip()) {
				return t.Elem().Strip()
			}
		}
		if t := o.handler(pc); is(t) { // "this" is left out of optimized code
			return t
		}
	}
	return nil
}

// libcxxNodeHandle writes the handle of a node that was taken out of a container of libc++.
func libcxxNodeHandle(o *object) *shown {
	at, _, ok := o.v.libcxxPointer("__ptr_")
	node := o.t.argument(0)
	if !ok || node == nil {
		return nil
	}
	held := node.Strip().argument(0)
	elem := o.libcxxElement(held)
	if elem == nil {
		return nil
	}
	name, offset := "node handle for ", o.libcxxTreeValue(elem.alignment(false))
	if strings.HasPrefix(node.Strip().Name, "__hash_node") {
		name += "unordered "
		offset = alignUp(2*o.ptrSize(), elem.alignment(false))
	}
	kind := "set"
	if strings.Contains(o.t.Name, "__map_node_handle_specifics") {
		kind = "map"
	}
	return o.handle(name+kind, at, elem, at+offset)
}
