package python

import (
	"errors"
	"fmt"
)

// Flags of types (Include/object.h, Include/cpython/object.h).
const (
	flagInlineValues = 1 << 2 // 3.13 on
	flagManagedDict  = 1 << 4 // 3.11 on
	flagHeapType     = 1 << 9
	flagInt          = 1 << 24
	flagList         = 1 << 25
	flagTuple        = 1 << 26
	flagBytes        = 1 << 27
	flagStr          = 1 << 28
	flagDict         = 1 << 29
	flagException    = 1 << 30
	flagType         = 1 << 31
)

// mostObjects bounds the objects that are read for one stack: the process may go on changing them.
const mostObjects = 1 << 16

// objects reads the objects of a process, for one stack.
type objects struct {
	*memory
	classes map[uint64]*class
	left    int // how many objects may be read; see mostObjects
}

// newObjects returns a reader of objects; nil if the layout of the build's objects is not known.
func newObjects(m *memory) *objects {
	l := m.layout
	if !l.has(objectType, typeName, typeFlags, typeBase, typeDict, typeDictOffset, typeBasicSize, typeItemSize,
		tupleItems, listItems, varSize, setUsed, setTable, setMask, dictKeys, dictValues, keysSize, keysEntries,
		floatValue, longDigits, bytesData, bytearrayStart, complexValue, cellValue, moduleDict, exceptionArgs) ||
		!l.has(longTag) && !l.has(longSize) || !l.has(keysLength) && !l.has(keysLogLength, keysLogIndexBytes, keysKind) ||
		l.minor >= 11 && !l.has(managedDict, typeKeys, valuesData) || l.minor >= 13 && !l.has(valuesValid) {
		return nil
	}
	return &objects{memory: m, left: mostObjects}
}

// class is an object's type.
type class struct {
	addr  uint64
	name  string // without its module, but with the module of types that are written in C
	flags uint64
	base  uint64

	// What follows is known of classes from classOf alone.
	described bool
	qualified string   // as programs write it: "app.Queue", "collections.OrderedDict", "int"
	fields    []string // of a dataclass or a named tuple, in their order
	dataclass bool
	named     bool // a named tuple
	hasText   bool // it has a __str__ or __repr__ of its own, written in Python
	enum      bool
	slots     []slot // of objects that have no dictionary, or not for all attributes
}

func (c *class) heap() bool { return c.flags&flagHeapType != 0 }

var errMany = errors.New("there are too many objects")

// typeOf returns the type of an object.
func (o *objects) typeOf(object uint64) (*class, error) {
	if o.left--; o.left < 0 {
		return nil, errMany
	}
	typ, err := o.pointer(object, objectType)
	if err != nil {
		return nil, err
	}
	return o.class(typ)
}

// class reads a type.
func (o *objects) class(addr uint64) (*class, error) {
	if c := o.classes[addr]; c != nil {
		return c, nil
	}
	if o.left--; o.left < 0 {
		return nil, errMany
	}
	c := &class{addr: addr}
	at, err := o.pointer(addr, typeName)
	if err != nil {
		return nil, err
	}
	if c.name, err = o.cString(at); err != nil {
		return nil, fmt.Errorf("the name of the type at %#x: %w", addr, err)
	}
	if c.flags, err = o.pointer(addr, typeFlags); err != nil {
		return nil, err
	}
	if c.base, err = o.pointer(addr, typeBase); err != nil {
		return nil, err
	}
	if o.classes == nil {
		o.classes = map[uint64]*class{}
	}
	o.classes[addr] = c
	return c, nil
}

// classOf is typeOf with all that is known of the class.
func (o *objects) classOf(object uint64) (*class, error) {
	c, err := o.typeOf(object)
	if err == nil {
		o.describe(c)
	}
	return c, err
}

// describe reads what the dictionary of a class tells: what of it cannot be read is left out.
func (o *objects) describe(c *class) {
	if c.described {
		return
	}
	c.described, c.qualified = true, c.name
	if !c.heap() {
		return
	}
	l := o.layout
	if text, err := o.fieldText(c.addr, typeQualifiedName); err == nil && text != "" {
		c.qualified = text
	}
	dict, err := o.pointer(c.addr, typeDict)
	if err != nil || dict == 0 {
		return
	}
	slots := false
	err = o.each(dict, func(key, value uint64) bool {
		name, err := o.text(key, 64)
		if err != nil {
			return true
		}
		switch name {
		case "__module__":
			if module, err := o.text(value, maxName); err == nil && module != "builtins" && module != "__main__" {
				c.qualified = module + "." + c.qualified
			} else if err == nil && module == "__main__" {
				c.qualified = "__main__." + c.qualified
			}
		case "__dataclass_fields__":
			c.fields, c.dataclass = o.keysOf(value), true
		case "_fields":
			if c.flags&flagTuple != 0 {
				c.fields, c.named = o.texts(value), true
			}
		case "__str__", "__repr__":
			c.hasText = true
		case "_member_map_":
			c.enum = true
		case "__slots__":
			slots = true
		}
		return true
	})
	if slots {
		c.slots = o.slotsIn(dict)
	}
	if err != nil || c.base == 0 || !l.has(typeBase) {
		return
	}
	// What a class inherits.
	if base, err := o.class(c.base); err == nil && base.heap() {
		o.describe(base)
		if !c.dataclass && !c.named {
			c.fields, c.dataclass, c.named = base.fields, base.dataclass, base.named
		}
		c.enum = c.enum || base.enum
		c.slots = append(c.slots, base.slots...)
		c.hasText = c.hasText || base.hasText
	}
}

// maxName bounds names, characters.
const maxName = 256

// fieldText reads a string to which a field leads.
func (o *objects) fieldText(object uint64, f field) (string, error) {
	if !o.layout.has(f) {
		return "", fmt.Errorf("the offset of %s is not known", fieldNames[f])
	}
	at, err := o.pointer(object, f)
	if err != nil {
		return "", err
	}
	return o.text(at, maxName)
}

// cString reads a string of C.
func (o *objects) cString(addr uint64) (string, error) {
	var room [maxName]byte
	for n := 0; n < len(room); {
		// To the end of a page: the next one may not be there.
		part := room[n:min(len(room), n+64-int((addr+uint64(n))%64))]
		got, err := o.ReadMemory(addr+uint64(n), part)
		for i, c := range part[:got] {
			if c == 0 {
				return string(room[:n+i]), nil
			}
		}
		if got < len(part) {
			return "", err
		}
		n += got
	}
	return "", errors.New("it does not end")
}

// size returns the size of an object of variable size.
func (o *objects) sizeOf(object uint64) (int64, error) {
	n, err := o.pointer(object, varSize)
	return int64(n), err
}

// items returns the first items of a tuple or a list, at most most of them, and how many there are.
func (o *objects) items(object uint64, most int) (list []uint64, n int64, err error) {
	c, err := o.typeOf(object)
	if err != nil {
		return nil, 0, err
	}
	if n, err = o.sizeOf(object); err != nil {
		return nil, 0, err
	}
	at := object + o.layout.at[tupleItems]
	switch {
	case n < 0 || n > 1<<40:
		return nil, 0, fmt.Errorf("the size of the %s at %#x is %d", c.name, object, n)
	case c.flags&flagList != 0:
		if at, err = o.pointer(object, listItems); err != nil {
			return nil, 0, err
		}
	case c.flags&flagTuple == 0:
		return nil, 0, fmt.Errorf("the %s at %#x is neither a tuple nor a list", c.name, object)
	}
	list, err = o.words(at, int(min(n, int64(most))))
	return list, n, err
}

// words reads n words.
func (o *objects) words(addr uint64, n int) ([]uint64, error) {
	raw := make([]byte, n*o.size)
	if got, err := o.ReadMemory(addr, raw); got < len(raw) {
		return nil, fmt.Errorf("memory at %#x: %w", addr, err)
	}
	list := make([]uint64, n)
	for i := range list {
		list[i] = o.get(raw[i*o.size:])
	}
	return list, nil
}

// texts returns the strings of a tuple.
func (o *objects) texts(tuple uint64) (list []string) {
	items, _, err := o.items(tuple, 64)
	if err != nil {
		return nil
	}
	for _, at := range items {
		text, err := o.text(at, maxName)
		if err != nil {
			return nil
		}
		list = append(list, text)
	}
	return list
}

// keysOf returns the keys of a dictionary that are strings.
func (o *objects) keysOf(dict uint64) (list []string) {
	_ = o.each(dict, func(key, _ uint64) bool {
		if text, err := o.text(key, maxName); err == nil {
			list = append(list, text)
		}
		return len(list) < 64
	})
	return list
}
