package php

import (
	"math"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/language"
)

// The types of zvals.
const (
	typeUndefined = iota
	typeNull
	typeFalse
	typeTrue
	typeInt
	typeFloat
	typeString
	typeArray
	typeObject
	typeResource
	typeReference
)

const (
	mostVariables = 256 // of a function
	mostText      = 100 // bytes of a string that is shown
)

// variables reads the arguments and the local variables of a call of a function of PHP. The record
// has a place for each, the arguments first; a variable that was not set yet is left out.
func (c *chain) variables(one *call) (args, locals []language.Variable) {
	fn, l := one.function, c.layout
	for i := range min(fn.variables, mostVariables) {
		name := c.text(c.Pointer(fn.names + 8*i))
		v := c.variable(one.at + l.at[callSize] + i*l.at[zvalSize])
		if c.Err() != nil || v.Value == "" || name == "" {
			continue
		}
		v.Name = "$" + name
		if i < fn.parameters {
			args = append(args, v)
		} else {
			locals = append(locals, v)
		}
	}
	return args, locals
}

// variable reads a value, a zval; Value is "" if there is none.
func (c *chain) variable(at uint64) (v language.Variable) {
	l := c.layout
	kind := c.Uint(at+l.at[zvalType], 1)
	if kind == typeReference {
		at = c.Pointer(at) + l.at[referenceValue]
		kind = c.Uint(at+l.at[zvalType], 1)
	}
	switch kind {
	case typeNull:
		return language.Variable{Type: "null", Value: "NULL"}
	case typeFalse:
		return language.Variable{Type: "bool", Value: "false"}
	case typeTrue:
		return language.Variable{Type: "bool", Value: "true"}
	case typeInt:
		return language.Variable{Type: "int", Value: strconv.FormatInt(c.Int(at, 8), 10)}
	case typeFloat:
		return language.Variable{Type: "float", Value: float(math.Float64frombits(c.Uint(at, 8)))}
	case typeString:
		return language.Variable{Type: "string", Value: c.quoted(c.Pointer(at))}
	case typeArray:
		return language.Variable{Type: "array", Value: "array(" + strconv.FormatUint(c.Uint(c.Pointer(at)+l.at[arrayCount], 4), 10) + ")"}
	case typeObject:
		class := c.classOf(c.Pointer(at))
		return language.Variable{Type: class, Value: "Object(" + class + ")"}
	case typeResource:
		return language.Variable{Type: "resource", Value: "resource"}
	}
	return v
}

// float writes a number as PHP's var_export does.
func float(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NAN"
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	}
	mantissa, exponent, large := strings.Cut(strconv.FormatFloat(f, 'E', -1, 64), "E")
	if n, err := strconv.Atoi(exponent); large && err == nil && n >= -4 && n <= 16 {
		text := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	} else if err == nil {
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		sign := "+"
		if n < 0 {
			sign, n = "-", -n
		}
		return mantissa + "E" + sign + strconv.Itoa(n)
	}
	return ""
}

// quoted writes a string as PHP's traces do: cut, in single quotes.
func (c *chain) quoted(at uint64) string {
	n := c.Pointer(at + c.layout.at[stringLen])
	text := c.Text(at+c.layout.at[stringVal], min(n, mostText))
	if n > mostText {
		text += "…"
	}
	return "'" + text + "'"
}
