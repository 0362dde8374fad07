package calling

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/expression"
)

// namedTypes are the types that need no debug information: Linux's on 64-bit processors.
var namedTypes = map[string]*abi.Type{
	"void": voidType, "bool": {Kind: abi.Integer, Size: 1}, "_Bool": {Kind: abi.Integer, Size: 1},
	"float": floatType, "double": doubleType,
	"size_t": ulongType, "ssize_t": longType, "off_t": longType, "pid_t": intType, "uid_t": uintType, "gid_t": uintType, "time_t": longType,
	"intptr_t": longType, "uintptr_t": ulongType, "ptrdiff_t": longType,
	"int8_t": charType, "int16_t": {Kind: abi.Integer, Size: 2, Signed: true}, "int32_t": intType, "int64_t": longType,
	"uint8_t": {Kind: abi.Integer, Size: 1}, "uint16_t": {Kind: abi.Integer, Size: 2}, "uint32_t": uintType, "uint64_t": ulongType,
}

// typeOf returns the type that an expression names.
func (e *Evaluator) typeOf(t *expression.Type) (*abi.Type, error) {
	if t.Pointers > 0 {
		return pointer, nil
	}
	if of := namedTypes[t.Name]; of != nil {
		return of, nil
	}
	count := map[string]int{}
	for _, word := range strings.Fields(t.Name) {
		count[word]++
	}
	signed := count["unsigned"] == 0
	kind := &abi.Type{Kind: abi.Integer, Size: 4, Signed: signed}
	used := count["unsigned"] + count["signed"]
	switch {
	case count["char"] == 1:
		kind.Size, used = 1, used+1
		if count["signed"] == 0 && signed {
			kind.Signed = e.Process.Arch().CharSigned
		}
	case count["short"] == 1:
		kind.Size, used = 2, used+1+count["int"]
	case count["long"] > 0 && count["double"] == 1:
		kind, used = &abi.Type{Kind: e.Process.Arch().LongDouble, Size: 16}, used+2
	case count["long"] > 0:
		kind.Size, used = 8, used+count["long"]+count["int"]
	case count["int"] == 1:
		used++
	}
	if used != len(strings.Fields(t.Name)) || used == 0 {
		return nil, e.fail(t.At, fmt.Sprintf("the type %s is not known: use one of C's own types, or a pointer", t.Name))
	}
	return kind, nil
}

// castType returns what is shown of a cast's type: a text of a pointer to characters, a character.
func castType(t *expression.Type) dwarf.Type {
	char := &dwarf.CharType{}
	char.ByteSize, char.Name = 1, "char"
	switch {
	case t.Name == "char" && t.Pointers == 0:
		return char
	case t.Name == "char" && t.Pointers == 1:
		p := &dwarf.PtrType{Type: char}
		p.ByteSize = 8
		return p
	}
	return nil
}

func zeroExtended(n uint64, order binary.ByteOrder) []byte {
	b := make([]byte, 16)
	if order == binary.ByteOrder(binary.BigEndian) {
		order.PutUint64(b[8:], n)
	} else {
		order.PutUint64(b, n)
	}
	return b
}

// place puts a text or an array into the process, and returns its address.
func (e *Evaluator) place(v Value) (uint64, error) {
	if v.isText {
		return e.Caller.Place(append([]byte(v.text), 0))
	}
	var b []byte
	for i := range v.elements {
		b = append(b, v.elements[i].Bytes...)
	}
	return e.Caller.Place(b)
}
