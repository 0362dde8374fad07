package python

import (
	"errors"
	"fmt"
)

// Dictionaries (Objects/dictobject.c, Objects/dict-common.h): a table of keys has indices for the
// look-up, and behind them entries in the order in which they were inserted. Instances of a class
// may share a table of keys, and have only values of their own.

// Kinds of tables of keys, 3.11 on: only general ones keep hashes.
const generalKeys = 0

// keys is a table of keys.
type keys struct {
	entries uint64 // the address of the first
	n       int
	hashes  bool // entries have a hash, a key and a value; else a key and a value
}

// mostEntries bounds the entries of a dictionary that are read.
const mostEntries = 1 << 16

// keysAt reads the head of a table of keys.
func (o *objects) keysAt(addr uint64) (keys, error) {
	l := o.layout
	if !l.has(keysSize, keysEntries) {
		return keys{}, errors.New("the layout of dictionaries is not known")
	}
	size := l.at[keysSize]
	if size > maxRecord-8 || l.at[keysEntries]+8 > size {
		return keys{}, errors.New("the layout of dictionaries is not known")
	}
	rec, err := o.record(addr, keysRoom, int(size))
	if err != nil {
		return keys{}, fmt.Errorf("the keys of a dictionary: %w", err)
	}
	k := keys{hashes: true}
	var slots, indices uint64
	if l.has(keysLength) {
		slots = rec.word(keysLength)
		switch {
		case slots <= 0xff:
			indices = slots
		case slots <= 0xffff:
			indices = 2 * slots
		case slots <= 0xffffffff:
			indices = 4 * slots
		default:
			indices = 8 * slots
		}
	} else {
		log, logBytes := rec.bytes[l.at[keysLogLength]], rec.bytes[l.at[keysLogIndexBytes]]
		if log > 40 || logBytes > 43 {
			return keys{}, fmt.Errorf("there are no keys of a dictionary at %#x", addr)
		}
		slots, indices = 1<<log, 1<<logBytes
		k.hashes = rec.bytes[l.at[keysKind]] == generalKeys
	}
	n := rec.word(keysEntries)
	if slots > 1<<40 || n > slots {
		return keys{}, fmt.Errorf("there are no keys of a dictionary at %#x", addr)
	}
	k.entries, k.n = addr+size+indices, int(min(n, mostEntries))
	return k, nil
}

// each calls do with the entries of a dictionary, in the order in which they were inserted, until
// it returns false.
func (o *objects) each(dict uint64, do func(key, value uint64) bool) error {
	return o.eachEntry(dict, func(_ uint64, _ bool, key, value uint64) bool { return do(key, value) })
}

// eachEntry is each with the hash of the key, where the dictionary keeps it.
func (o *objects) eachEntry(dict uint64, do func(hash uint64, hashed bool, key, value uint64) bool) error {
	c, err := o.typeOf(dict)
	if err != nil {
		return err
	}
	if c.flags&flagDict == 0 {
		return fmt.Errorf("the %s at %#x is no dictionary", c.name, dict)
	}
	at, err := o.pointer(dict, dictKeys)
	if err != nil {
		return err
	}
	values, err := o.pointer(dict, dictValues)
	if err != nil {
		return err
	}
	if values != 0 && o.layout.has(valuesData) {
		values += o.layout.at[valuesData]
	}
	return o.eachOf(at, values, do)
}

// eachOf calls do with the entries of a table of keys whose values are in an array at values, or in
// the table if that is 0.
func (o *objects) eachOf(table, values uint64, do func(hash uint64, hashed bool, key, value uint64) bool) error {
	k, err := o.keysAt(table)
	if err != nil {
		return err
	}
	per := 2
	if k.hashes {
		per = 3
	}
	const atOnce = 64
	for i := 0; i < k.n; i += atOnce {
		n := min(atOnce, k.n-i)
		entries, err := o.words(k.entries+uint64(i*per*o.size), n*per)
		if err != nil {
			return err
		}
		var own []uint64
		if values != 0 {
			if own, err = o.words(values+uint64(i*o.size), n); err != nil {
				return err
			}
		}
		for j := range n {
			e := entries[j*per : (j+1)*per]
			key, value, hash := e[per-2], e[per-1], uint64(0)
			if k.hashes {
				hash = e[0]
			}
			if own != nil {
				value = own[j]
			}
			if key == 0 || value == 0 {
				continue // it was deleted
			}
			if !do(hash, k.hashes, key, value) {
				return nil
			}
		}
	}
	return nil
}

// lookUp returns the value of a key that is a string; 0 if there is none.
func (o *objects) lookUp(dict uint64, name string) (value uint64, err error) {
	err = o.each(dict, func(key, v uint64) bool {
		if o.isText(key, name) {
			value = v
		}
		return value == 0
	})
	return value, err
}

// isText reports whether an object is the string name, of ASCII characters.
func (o *objects) isText(object uint64, name string) bool {
	length, err := o.pointer(object, unicodeLength)
	if err != nil || length != uint64(len(name)) {
		return false
	}
	text, err := o.text(object, len(name))
	return err == nil && text == name
}

// eachAttribute calls do with the attributes that an object has of its own, in slots and in its
// dictionary, until it returns false.
func (o *objects) eachAttribute(object uint64, do func(key, value uint64) bool) error {
	c, err := o.classOf(object)
	if err != nil {
		return err
	}
	if more, err := o.eachSlot(object, c, do); err != nil || !more {
		return err
	}
	return o.eachInDict(object, c, do)
}

// eachInDict is eachAttribute for the dictionary that an object of a class has.
func (o *objects) eachInDict(object uint64, c *class, do func(key, value uint64) bool) error {
	l := o.layout
	each := func(_ uint64, _ bool, key, value uint64) bool { return do(key, value) }
	dict := uint64(0)
	if c.flags&flagManagedDict != 0 && l.has(managedDict, typeKeys) {
		table, err := o.pointer(c.addr, typeKeys)
		if err != nil {
			return err
		}
		values, d, err := o.managed(object, c)
		if err != nil {
			return err
		}
		if values != 0 {
			return o.eachOf(table, values, each)
		}
		dict = d
	} else {
		raw, err := o.pointer(c.addr, typeDictOffset)
		if err != nil {
			return err
		}
		offset := int64(raw)
		if offset < 0 { // from the object's end
			basic, err := o.pointer(c.addr, typeBasicSize)
			if err != nil {
				return err
			}
			each, err := o.pointer(c.addr, typeItemSize)
			if err != nil {
				return err
			}
			n, err := o.sizeOf(object)
			if err != nil {
				return err
			}
			n = max(n, -n)
			if n < 0 || n > 1<<32 || each > 1<<20 || basic > 1<<20 {
				return fmt.Errorf("the %s at %#x has a size that cannot be", c.name, object)
			}
			word := int64(o.size)
			offset += (int64(basic) + n*int64(each) + word - 1) / word * word
		}
		if offset <= 0 {
			return nil
		}
		if dict, err = o.word(object + uint64(offset)); err != nil {
			return err
		}
	}
	if dict == 0 {
		return nil
	}
	return o.eachEntry(dict, each)
}

// managed returns where the values of an object are whose dictionary lies before it, or the
// dictionary.
func (o *objects) managed(object uint64, c *class) (values, dict uint64, err error) {
	l := o.layout
	at := object - l.at[managedDict]
	switch {
	case l.minor >= 13 && c.flags&flagInlineValues != 0:
		basic, err := o.pointer(c.addr, typeBasicSize)
		if err != nil {
			return 0, 0, err
		}
		if basic > 1<<20 {
			return 0, 0, fmt.Errorf("the size of the type %s is %d", c.name, basic)
		}
		inline := object + basic
		var valid [1]byte
		if n, err := o.ReadMemory(inline+l.at[valuesValid], valid[:]); n == 0 {
			return 0, 0, err
		}
		if valid[0] != 0 {
			return inline + l.at[valuesData], 0, nil
		}
	case l.minor == 11:
		values, err := o.word(at - uint64(o.size))
		if err != nil || values != 0 {
			return values, 0, err
		}
	case l.minor == 12:
		word, err := o.word(at)
		if err != nil {
			return 0, 0, err
		}
		if word&1 != 0 {
			return word + 1 + l.at[valuesData], 0, nil
		}
		return 0, word, nil
	}
	dict, err = o.word(at)
	return 0, dict, err
}

// attribute returns the object that another one has as an attribute of its own; 0 if it has none of
// that name.
func (o *objects) attribute(object uint64, name string) (value uint64, err error) {
	err = o.eachAttribute(object, func(key, v uint64) bool {
		if o.isText(key, name) {
			value = v
		}
		return value == 0
	})
	return value, err
}
