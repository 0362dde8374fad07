package value

import (
	"fmt"
	"strings"
)

// maxInside bounds objects that contain one another and nothing else. GDB's printers end at some hundreds, with an error.
const maxInside = 100

// contained fills in what an object contains: the children of a container, or one value. text returns what is before them, by the
// text of the container if there is one. It returns nil, so that the members are written, if the object contains itself, which a broken one may do.
func (o *object) contained(v *Value, usual hint, text func(container string, is bool) string) *shown {
	s := &shown{hint: usual}
	w := o.w
	var in *shown
	if w.inside++; w.inside > maxInside {
		w.endless = true
	} else {
		in = w.cxxShownReference(v)
	}
	if w.inside--; w.endless {
		w.endless = w.inside > 0
		return nil
	}
	if in != nil && in.children != nil {
		if in.err != nil {
			s.err = in.err
			return s
		}
		s.children = in.children
		if in.hint != byName {
			s.hint = in.hint
		}
		container := in.text
		if in.bare {
			container = "None"
		}
		s.text = text(container, true)
		return s
	}
	s.text = text("", false)
	s.children = func(yield func(child) bool) { yield(child{name: "[contained value]", value: *v}) }
	return s
}

// cxxShownReference is cxxShown, of a reference for what it refers to.
func (w *Writer) cxxShownReference(v *Value) *shown {
	t := v.Type.Strip()
	if t.Kind == Reference {
		to := v.Deref()
		return w.cxxShown(&to, to.Type.Strip())
	}
	return w.cxxShown(v, t)
}

// optional writes a std::optional.
func optional(o *object) *shown {
	of := o.t.argument(0)
	if of == nil {
		return nil
	}
	name := strings.Replace(o.name, "fundamentals_v1::", "", 1) + "<" + o.shortName(of) + ">"
	names := []string{"_M_payload", "_M_engaged"}
	if strings.HasPrefix(name, "std::experimental") {
		names = names[1:]
	}
	engaged, ok := o.number(names...)
	if !ok {
		return nil
	}
	if engaged == 0 {
		return &shown{text: name + " [no contained value]", children: nothing}
	}
	for _, names := range [...][]string{{"_M_payload", "_M_payload", "_M_value"}, {"_M_payload", "_M_payload"}, {"_M_payload"}} {
		v, ok := o.v.member(names...)
		if !ok {
			continue
		}
		return o.contained(&v, byName, func(container string, is bool) string {
			if is {
				return name + " containing " + container
			}
			return name
		})
	}
	return nil
}

// variantObject writes a std::variant.
func variantObject(o *object) *shown {
	m, ok := o.v.member("_M_index")
	n, err := m.Uint()
	storage, ok2 := o.v.oneMember("_M_u", 0)
	if !ok || !ok2 || err != nil {
		return nil
	}
	return o.variant(n, &storage)
}

// variant writes a std::variant whose alternative n is at the beginning of a value.
func (o *object) variant(n uint64, storage *Value) *shown {
	alternatives := o.t.TemplateArguments()
	names := make([]string, len(alternatives))
	for i, a := range alternatives {
		if a.Value != nil {
			return nil
		}
		names[i] = o.shortName(a.Type)
	}
	name := o.name + "<" + strings.Join(names, ", ") + ">"
	if n >= uint64(len(alternatives)) {
		return &shown{text: name + " [no contained value]", hint: asArray, children: nothing}
	}
	v := storage.as(alternatives[n].Type)
	return o.contained(&v, asArray, func(container string, is bool) string {
		if is {
			return fmt.Sprintf("%s [index %d] containing %s", name, n, container)
		}
		return fmt.Sprintf("%s [index %d]", name, n)
	})
}

// as returns the object at the beginning of v, of another type.
func (v *Value) as(t *Type) Value {
	n, ok := t.SizeOf()
	if !ok {
		return Value{Type: t, err: ErrUnavailable}
	}
	return v.part(t, 0, n)
}

// anyObject writes a std::any. The function that manages its object is a member of a class with the object's type.
func anyObject(o *object) *shown {
	name := strings.Replace(o.name, "fundamentals_v1::", "", 1)
	manager, _, ok := o.pointerTo("_M_manager")
	if !ok {
		return nil
	}
	if manager == 0 {
		return &shown{text: name + " [no contained value]", children: nothing}
	}
	of, external := o.t.r.managed(manager)
	if of == nil {
		return nil
	}
	var v Value
	if external {
		at, _, ok := o.pointerTo("_M_storage", "_M_ptr")
		if !ok {
			return nil
		}
		v = o.at(of, at)
	} else {
		buffer, ok := o.v.member("_M_storage", "_M_buffer")
		if !ok {
			return nil
		}
		v = buffer.as(of)
	}
	return o.contained(&v, byName, func(container string, is bool) string {
		if is {
			return name + " containing " + container
		}
		return name + " containing " + o.shortName(of)
	})
}

// managed returns the type of the objects that a function of a std::any manages, and whether they lie outside of the std::any. It is nil if
// the function is none. Each such function has a pointer to the object, by which its type is known.
func (r *Reader) managed(pc uint64) (of *Type, external bool) {
	scopes, _, err := r.Symbols.Scopes(r.Modules, pc)
	if err != nil || len(scopes) == 0 {
		return nil, false
	}
	name := ""
	for e := range r.described(scopes[0].Entry) {
		if name = linkageName(e); name != "" {
			break
		}
	}
	switch {
	case strings.Contains(name, "17_Manager_external"):
		external = true
	case !strings.Contains(name, "17_Manager_internal"):
		return nil, false
	}
	for _, x := range r.block(&scopes[0], 0) {
		if t := x.Type.Strip(); x.Name == "__ptr" && t.Kind == Pointer {
			return t.Elem().Unqualified(), external
		}
	}
	return nil, false
}

// nodeHandle writes the handle of a node that was taken out of a container.
func nodeHandle(o *object) *shown {
	key, elem, alloc := o.t.argument(0), o.t.argument(1), o.t.argument(2)
	at, _, ok := o.pointerTo("_M_ptr")
	if !ok || key == nil || elem == nil || alloc == nil {
		return nil
	}
	if _, ok := o.v.member("_M_alloc", "_M_engaged"); !ok { // of newer releases than the printers know
		return nil
	}
	node := alloc.Strip().argument(0)
	if node == nil {
		return nil
	}
	name, offset := "node handle for ", uint64(0)
	if node, _ := cxxTemplate(node.Strip().FullName()); strings.HasSuffix(node, "::_Rb_tree_node") {
		offset = alignUp(treeWords*o.ptrSize(), elem.alignment(false))
	} else {
		name += "unordered "
		offset = alignUp(o.ptrSize(), elem.alignment(true))
	}
	if key.Strip() != elem.Strip() {
		name += "map"
	} else {
		name += "set"
	}
	return o.handle(name, at, elem, at+offset)
}

// handle writes the handle of a node with an element at an address.
func (o *object) handle(name string, node uint64, elem *Type, at uint64) *shown {
	if node == 0 {
		return &shown{text: "empty " + name, hint: asArray, children: nothing}
	}
	v := o.at(elem, at)
	return o.contained(&v, asArray, func(container string, is bool) string {
		if is {
			return name + " with element = " + container
		}
		return name + " with element"
	})
}
