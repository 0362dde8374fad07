package python

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/language"
)

// Kinds of a code object's variables (co_localspluskinds, 3.11 on), and flags of code (co_flags).
const (
	kindLocal = 0x20
	kindCell  = 0x40
	kindFree  = 0x80

	codeOptimized   = 0x1 // its local variables are in the frame, and not in a dictionary as a module's and a class's are
	codeVarArgs     = 0x4
	codeVarKeywords = 0x8
)

// mostVariables bounds the variables of one frame.
const mostVariables = 1 << 8

// variable is a slot of a frame.
type variable struct {
	name           string
	argument, cell bool
}

// variables returns the arguments and the local variables of a frame at frame that runs the code
// object at code, in the order in which the code has them. Variables without a value are left out.
func (o *objects) variables(frame, code uint64) (args, locals []language.Variable, err error) {
	l := o.layout
	list, values, err := o.slotsOf(frame, code)
	if err != nil {
		return nil, nil, err
	}
	if list == nil {
		locals, err = o.namespace(frame, code)
		return nil, locals, err
	}
	if l.minor < 11 {
		// An argument that inner functions use is in a cell: its first slot is empty.
		for i := range list {
			if !list[i].cell || values[i] == 0 {
				continue
			}
			for j := range list[:i] {
				if list[j].argument && list[j].name == list[i].name {
					list[i].argument = true
				}
			}
		}
	}
	for i, v := range list {
		object := o.reference(values[i])
		if object == 0 || v.name == "" {
			continue
		}
		var text, class string
		if n, ok := o.smallInt(values[i]); ok {
			text, class = fmt.Sprint(n), "int"
		} else {
			if v.cell {
				if object = o.inCell(object); object == 0 {
					continue
				}
			}
			if c, err := o.classOf(object); err == nil {
				class = c.qualified
			}
			text = o.value(object)
		}
		x := language.Variable{Name: v.name, Type: class, Value: text}
		if v.argument {
			args = append(args, x)
		} else {
			locals = append(locals, x)
		}
	}
	return args, locals, nil
}

// namespace returns the variables of a frame that has them in a dictionary: the body of a module or
// a class. Modules, functions and classes, and what Python itself puts there, are left out. It
// returns none of other frames.
func (o *objects) namespace(frame, code uint64) (list []language.Variable, err error) {
	l := o.layout
	dict := frameLocalsDict
	if l.minor < 11 {
		dict = objectLocalsDict
	}
	if !l.has(dict, codeFlags) {
		return nil, nil
	}
	if flags, err := o.int32(code + l.at[codeFlags]); err != nil || flags&codeOptimized != 0 {
		return nil, err
	}
	at, err := o.pointer(frame, dict)
	if err != nil {
		return nil, err
	}
	if at = o.reference(at); at == 0 {
		return nil, nil
	}
	err = o.each(at, func(key, object uint64) bool {
		name, err := o.text(key, maxName)
		if err != nil || strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__") {
			return true
		}
		c, err := o.classOf(object)
		if err != nil || c.flags&flagType != 0 {
			return true
		}
		switch c.name {
		case "module", "function", "builtin_function_or_method":
			return true
		}
		list = append(list, language.Variable{Name: name, Type: c.qualified, Value: o.value(object)})
		return len(list) < mostVariables
	})
	return list, err
}

// slotsOf returns the variables of a frame at frame that runs the code object at code, with what
// their slots have.
func (o *objects) slotsOf(frame, code uint64) (list []variable, slots []uint64, err error) {
	list, optimized, err := o.slots(code)
	if err != nil {
		return nil, nil, fmt.Errorf("the variables of the code object at %#x: %w", code, err)
	}
	if !optimized {
		return nil, nil, nil
	}
	at := frame
	if o.layout.minor >= 11 {
		at += o.layout.at[frameLocals]
	} else {
		at += o.layout.at[objectLocals]
	}
	if slots, err = o.words(at, len(list)); err != nil {
		return nil, nil, fmt.Errorf("the variables of the frame at %#x: %w", frame, err)
	}
	return list, slots, nil
}

// slotValues is slotsOf with the objects of the slots; 0 for none.
func (o *objects) slotValues(frame, code uint64) (list []variable, values []uint64, err error) {
	list, values, err = o.slotsOf(frame, code)
	for i := range values {
		if _, ok := o.smallInt(values[i]); ok {
			values[i] = 0
		} else {
			values[i] = o.reference(values[i])
		}
	}
	return list, values, err
}

// reference returns the object of a slot, which may be marked as not counted (3.13 on).
func (o *objects) reference(slot uint64) uint64 {
	if o.layout.minor < 13 {
		return slot
	}
	return slot &^ 3
}

// smallInt returns the integer that a slot has instead of an object (3.14 on).
func (o *objects) smallInt(slot uint64) (n int64, ok bool) {
	return int64(slot) >> 2, o.layout.minor >= 14 && slot&3 == 3
}

// inCell returns the object in a cell, or the object itself if it is no cell yet.
func (o *objects) inCell(object uint64) uint64 {
	c, err := o.typeOf(object)
	if err != nil || c.name != "cell" {
		return object
	}
	at, err := o.pointer(object, cellValue)
	if err != nil {
		return 0
	}
	return at
}

// slots returns the variables of a code object, in the order of the slots of its frames.
// optimized says that frames have such slots.
func (o *objects) slots(code uint64) (list []variable, optimized bool, err error) {
	l := o.layout
	fields := []field{codeFlags, codeArguments, codeKeywordOnly, codeLocalsNames, codeLocalsKinds}
	if l.minor < 11 {
		fields = []field{codeFlags, codeArguments, codeKeywordOnly, codeNames, codeCells, codeFree}
	}
	for _, f := range fields {
		if !l.has(f) {
			return nil, false, fmt.Errorf("the offset of %s is not known", fieldNames[f])
		}
	}
	rec, err := o.record(code, variablesRoom, l.part(uint64(o.size), fields...))
	if err != nil {
		return nil, false, err
	}
	flags := rec.number(codeFlags)
	if flags&codeOptimized == 0 {
		return nil, false, nil
	}
	arguments := int(rec.number(codeArguments)) + int(rec.number(codeKeywordOnly))
	if flags&codeVarArgs != 0 {
		arguments++
	}
	if flags&codeVarKeywords != 0 {
		arguments++
	}
	if l.minor < 11 {
		for _, f := range []field{codeNames, codeCells, codeFree} {
			names, err := o.names(rec.word(f))
			if err != nil {
				return nil, false, err
			}
			for i, name := range names {
				list = append(list, variable{name: name, argument: f == codeNames && i < arguments, cell: f != codeNames})
			}
		}
		return list, true, nil
	}
	names, err := o.names(rec.word(codeLocalsNames))
	if err != nil {
		return nil, false, err
	}
	kinds := make([]byte, len(names))
	if n, err := o.ReadMemory(rec.word(codeLocalsKinds)+l.at[bytesData], kinds); n < len(kinds) {
		return nil, false, err
	}
	for i, name := range names {
		kind := kinds[i]
		list = append(list, variable{
			name:     name,
			argument: kind&kindLocal != 0 && i < arguments,
			cell:     kind&(kindCell|kindFree) != 0,
		})
	}
	return list, true, nil
}

// names returns the strings of a tuple.
func (o *objects) names(tuple uint64) ([]string, error) {
	items, n, err := o.items(tuple, mostVariables)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(items))
	for i, at := range items {
		if list[i], err = o.text(at, maxName); err != nil {
			return nil, fmt.Errorf("name %d of %d: %w", i+1, n, err)
		}
	}
	return list, nil
}
