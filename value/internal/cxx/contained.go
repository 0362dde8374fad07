package cxx

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// Contained fills in what an object contains: the children of a container, or one value. text
// returns what is before them, by the text of the container if there is one. It returns nil, so
// that the members are written, if the object contains itself, which a broken one may do.
func (o *Object) Contained(v *value.Value, usual value.Hint, text func(container string, is bool) string) *value.Shown {
	s := &value.Shown{Hint: usual}
	in, endless := o.W.Show(v)
	if endless {
		return nil
	}
	if in != nil && in.Children != nil {
		if in.Err != nil {
			s.Err = in.Err
			return s
		}
		s.Children = in.Children
		if in.Hint != value.ByName {
			s.Hint = in.Hint
		}
		container := in.Text
		if in.Bare {
			container = "None"
		}
		s.Text = text(container, true)
		return s
	}
	s.Text = text("", false)
	s.Children = func(yield func(value.Child, error) bool) {
		yield(value.Child{Name: "[contained value]", Value: *v}, nil)
	}
	return s
}

// Containing writes an object of a library that contains a value.
func (o *Object) Containing(name string, v *value.Value) *value.Shown {
	return o.Contained(v, value.ByName, func(container string, is bool) string {
		if is {
			return name + " containing " + container
		}
		return name
	})
}

// Variant writes a std::variant whose alternative n is at the beginning of a value.
func (o *Object) Variant(n uint64, storage *value.Value) *value.Shown {
	alternatives := o.T.TemplateArguments()
	names := make([]string, len(alternatives))
	for i, a := range alternatives {
		if a.Value != nil {
			return nil
		}
		names[i] = o.ShortName(a.Type)
	}
	name := o.Name + "<" + strings.Join(names, ", ") + ">"
	if n >= uint64(len(alternatives)) {
		return &value.Shown{Text: name + " [no contained value]", Hint: value.AsArray, Children: Nothing}
	}
	v := storage.Part(alternatives[n].Type, 0)
	return o.Contained(&v, value.AsArray, func(container string, is bool) string {
		if is {
			return fmt.Sprintf("%s [index %d] containing %s", name, n, container)
		}
		return fmt.Sprintf("%s [index %d]", name, n)
	})
}

// Handle writes the handle of a node with an element at an address.
func (o *Object) Handle(name string, node uint64, elem *value.Type, at uint64) *value.Shown {
	if node == 0 {
		return &value.Shown{Text: "empty " + name, Hint: value.AsArray, Children: Nothing}
	}
	v := o.At(elem, at)
	return o.Contained(&v, value.AsArray, func(container string, is bool) string {
		if is {
			return name + " with element = " + container
		}
		return name + " with element"
	})
}

// Getter is the child of a smart pointer.
func Getter(v value.Value) func(func(value.Child, error) bool) {
	return func(yield func(value.Child, error) bool) { yield(value.Child{Name: "get()", Value: v}, nil) }
}

// Nothing are the children of an empty container.
func Nothing(func(value.Child, error) bool) {}

// Pair writes a std::pair.
func Pair(o *Object) *value.Shown {
	first, ok := o.V.Member("first")
	second, ok2 := o.V.Member("second")
	if !ok || !ok2 {
		return nil
	}
	return &value.Shown{Bare: true, Children: func(yield func(value.Child, error) bool) {
		_ = yield(value.Child{Name: "first", Value: first}, nil) && yield(value.Child{Name: "second", Value: second}, nil)
	}}
}

// Adaptor writes a std::stack, queue or priority_queue.
func Adaptor(o *Object) *value.Shown {
	c, ok := Member(o.V, "c")
	if !ok {
		return nil
	}
	s, _ := o.W.Show(&c)
	if s == nil || s.Children == nil {
		return nil
	}
	s.Text = o.Name + " wrapping: " + s.Text
	return s
}
