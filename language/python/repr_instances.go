package python

import (
	"fmt"
	"strings"
)

// fields writes an object of a dataclass.
func (w *writer) fields(object uint64, c *class) error {
	w.write(short(c.qualified) + "(")
	n := 0
	for _, name := range c.fields {
		value, err := w.attribute(object, name)
		if err != nil {
			return err
		}
		if value == 0 {
			continue // in a slot, or not set yet
		}
		if n++; n > 1 {
			w.write(", ")
		}
		if n > mostItems {
			w.write("...")
			break
		}
		w.write(name + "=")
		w.object(value)
	}
	if n == 0 && len(c.fields) > 0 {
		return fmt.Errorf("the fields of %s are not in a dictionary", c.qualified)
	}
	w.write(")")
	return nil
}

// short is a class's qualified name without its module, as a dataclass writes it.
func short(qualified string) string {
	if i := strings.LastIndexByte(qualified, '.'); i >= 0 {
		return qualified[i+1:]
	}
	return qualified
}

func (w *writer) namedTuple(object uint64, c *class) error {
	items, n, err := w.items(object, mostItems)
	if err != nil {
		return err
	}
	if n != int64(len(c.fields)) {
		return w.of(c, "", func() error { return w.sequence(object, "(", ")") })
	}
	w.write(short(c.qualified) + "(")
	for i, item := range items {
		if i > 0 {
			w.write(", ")
		}
		w.write(c.fields[i] + "=")
		w.object(item)
	}
	if n > int64(len(items)) {
		w.write(", ...")
	}
	w.write(")")
	return nil
}

// member writes a member of an enumeration.
func (w *writer) member(object uint64, c *class) error {
	at, err := w.attribute(object, "_name_")
	if err != nil || at == 0 {
		return fmt.Errorf("a member of %s without a name: %w", c.qualified, err)
	}
	name, err := w.memory.text(at, maxName)
	if err != nil {
		return err
	}
	value, err := w.attribute(object, "_value_")
	if err != nil {
		return err
	}
	w.write("<" + short(c.qualified) + "." + name + ": ")
	w.object(value)
	w.write(">")
	return nil
}

func (w *writer) module(object uint64) error {
	dict, err := w.pointer(object, moduleDict)
	if err != nil {
		return err
	}
	at, err := w.lookUp(dict, "__name__")
	if err != nil {
		return err
	}
	name, err := w.memory.text(at, maxName)
	if err != nil {
		return err
	}
	w.write("<module " + quoted(name) + ">")
	return nil
}

func (w *writer) classObject(object uint64) error {
	c, err := w.class(object)
	if err != nil {
		return err
	}
	w.describe(c)
	w.write("<class " + quoted(c.qualified) + ">")
	return nil
}

// exception writes an exception as BaseException.__repr__ does.
func (w *writer) exception(object uint64, c *class) error {
	args, err := w.pointer(object, exceptionArgs)
	if err != nil {
		return err
	}
	items, n, err := w.items(args, mostItems)
	if err != nil {
		return err
	}
	w.write(short(c.qualified) + "(")
	for i, item := range items {
		if i > 0 {
			w.write(", ")
		}
		w.object(item)
	}
	if n > int64(len(items)) {
		w.write(", ...")
	}
	w.write(")")
	return nil
}
