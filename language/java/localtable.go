package java

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

// tablesLayout says where a method has its variables. It is the zero value if that is not known.
type tablesLayout struct {
	known                           bool
	parameters, slots, signature    vmstructs.Field // of a ConstMethod
	generic, named, throws, catches int64           // flags of a ConstMethod, for the tables at its end
	variables                       int64
	annotations                     [4]int64
}

func layOutTables(t *vmstructs.Tables) (l tablesLayout) {
	n := vmstructs.Needed{Tables: t}
	l.parameters, l.slots = n.Number("ConstMethod::_size_of_parameters"), n.Number("ConstMethod::_max_locals")
	l.signature = n.Number("ConstMethod::_signature_index")
	for _, f := range []struct {
		to   *int64
		name string
	}{
		{&l.generic, "generic_signature"}, {&l.named, "method_parameters"}, {&l.throws, "checked_exceptions"},
		{&l.catches, "exception_table"}, {&l.variables, "localvariable_table"},
		{&l.annotations[0], "method_annotations"}, {&l.annotations[1], "parameter_annotations"},
		{&l.annotations[2], "default_annotations"}, {&l.annotations[3], "type_annotations"},
	} {
		for _, prefix := range [...]string{"ConstMethod::_has_", "ConstMethodFlags::_misc_has_"} {
			if flag, ok := t.Constants[prefix+f.name]; ok {
				*f.to = flag
			}
		}
		if *f.to == 0 {
			n.Lacks(f.name)
		}
	}
	l.known = n.Err() == nil
	return l
}

// entry is a variable of a method, as the LocalVariableTable of the class file has it (the Java
// Virtual Machine Specification, 4.7.13): it has a value where start <= bytecode < start+length.
type entry struct {
	start, length    int32
	name, descriptor uint16 // constants
	slot             int
}

// Sizes of what is in the tables at the end of a ConstMethod, in words of 16 bits.
const (
	parameterWords = 2
	thrownWords    = 1
	catchWords     = 4
	variableWords  = 6
)

// entries returns the table of variables of a method. tail ends where the ConstMethod does: the
// tables lie there one before the other, each with its length behind it.
func (l *tablesLayout) entries(tail []byte, order binary.ByteOrder, flags int64) (list []entry) {
	if flags&l.variables == 0 {
		return nil
	}
	end := len(tail)
	for _, flag := range l.annotations {
		if flags&flag != 0 {
			end -= 8
		}
	}
	word := func(at int) int {
		if at < 0 || at+2 > len(tail) {
			return 0
		}
		return int(order.Uint16(tail[at:]))
	}
	if flags&l.generic != 0 {
		end -= 2
	}
	for _, table := range [...]struct {
		flag  int64
		words int
	}{{l.named, parameterWords}, {l.throws, thrownWords}, {l.catches, catchWords}} {
		if flags&table.flag != 0 {
			end -= 2
			end -= 2 * table.words * word(end)
		}
	}
	n := word(end - 2)
	at := end - 2 - 2*variableWords*n
	if at < 0 {
		return nil
	}
	for range min(n, mostEntries) {
		list = append(list, entry{
			start: int32(word(at)), length: int32(word(at + 2)),
			name: uint16(word(at + 4)), descriptor: uint16(word(at + 6)),
			slot: word(at + 10),
		})
		at += 2 * variableWords
	}
	return list
}

// mostEntries bounds the variables of one method: a name may have many, in blocks side by side.
const mostEntries = 1 << 12
