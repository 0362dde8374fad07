package php

import (
	"strings"

	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// The kinds of functions: ZEND_INTERNAL_FUNCTION and so on.
const (
	internalFunction = 1
	userFunction     = 2 // also the code of a file
	evalCode         = 4
)

// function is a function of PHP, or the code of a file: a zend_function.
type function struct {
	kind    uint8
	name    string // "" for code outside of functions
	class   string // in which it is declared; "" if in none
	handler uint64 // the function of C; 0 for a function of PHP

	opcodes uint64 // its instructions
	count   uint64
	file    string
	lineEnd int

	names      uint64 // the table of the names of variables
	variables  uint64 // how many, parameters among them
	parameters uint64 // how many, one with the rest of the arguments among them
}

// user reports whether the function is written in PHP.
func (f *function) user() bool { return f.kind == userFunction || f.kind == evalCode }

// has reports whether there is an instruction of the function at an address.
func (f *function) has(l *layout, opline uint64) bool {
	at := opline - f.opcodes
	return at < f.count*l.at[opSize] && at%l.at[opSize] == 0
}

// variadic is the flag of a function whose last parameter has the rest of the arguments, which is
// not counted: ZEND_ACC_VARIADIC.
const variadic = 1 << 14

// mostInstructions bounds the instructions of a function.
const mostInstructions = 1 << 28

// functionAt reads a function; what was read is kept as long as c.
func (c *chain) functionAt(at uint64) *function {
	if f := c.functions[at]; f != nil {
		return f
	}
	l := c.layout
	f := &function{kind: uint8(c.Uint(at+l.at[funcType], 1))}
	if name := c.Pointer(at + l.at[funcName]); name != 0 {
		f.name = c.text(name)
	}
	if class := c.Pointer(at + l.at[funcScope]); class != 0 {
		f.class = c.className(class)
	}
	switch f.kind {
	case internalFunction:
		f.handler = c.Pointer(at + l.at[internalHandler])
	case userFunction, evalCode:
		f.opcodes = c.Pointer(at + l.at[funcOpcodes])
		f.count = min(c.Uint(at+l.at[funcLast], 4), mostInstructions)
		f.lineEnd = int(int32(c.Uint(at+l.at[funcLineEnd], 4)))
		f.names, f.variables = c.Pointer(at+l.at[funcVars]), c.Uint(at+l.at[funcLastVar], 4)
		f.parameters = c.Uint(at+l.at[funcNumArgs], 4)
		if c.Uint(at+l.at[funcFlags], 4)&variadic != 0 {
			f.parameters++
		}
		if file := c.Pointer(at + l.at[funcFile]); file != 0 {
			f.file = c.text(file)
		}
	default:
		c.Fail("at %#x is no function of PHP: its kind is %d", at, f.kind)
	}
	if !c.OK() {
		return nil
	}
	if c.functions == nil {
		c.functions = map[uint64]*function{}
	}
	c.functions[at] = f
	return f
}

// text reads a string of PHP, a zend_string. What comes behind a zero is not for people: names of
// classes without a name have an address there.
func (c *chain) text(at uint64) string { return textAt(c.layout, c.Reader, at) }

func textAt(l *layout, r *structs.Reader, at uint64) string {
	text, _, _ := strings.Cut(r.Text(at+l.at[stringVal], r.Pointer(at+l.at[stringLen])), "\x00")
	return text
}

// className reads the name of a class, a zend_class_entry.
func (c *chain) className(class uint64) string {
	return c.text(c.Pointer(class + c.layout.at[className]))
}

// classOf reads the name of the class of an object.
func (c *chain) classOf(object uint64) string {
	return c.className(c.Pointer(object + c.layout.at[objectClass]))
}
