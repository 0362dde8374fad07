package r

import (
	"math"
	"strconv"
)

// anonymous is what Rprof calls functions that were not called by a name.
const anonymous = "<Anonymous>"

// nameOf returns what Rprof calls a function, of what stands before the arguments of its call:
// a name, or PACKAGE::NAME, LIST$NAME, LIST[[INDEX]].
func (m *reader) nameOf(function uint64) string {
	if name, ok := m.symbol(function); ok {
		return name
	}
	if !m.is(function, typeCall) {
		return anonymous
	}
	operator, ok := m.symbol(m.Pointer(function + listCar))
	if !ok || operator != "::" && operator != ":::" && operator != "$" && operator != "[[" {
		return anonymous
	}
	operands := m.Pointer(function + listCdr)
	first, ok := m.symbol(m.Pointer(operands + listCar))
	second := m.Pointer(m.Pointer(operands+listCdr) + listCar)
	name, isSymbol := m.symbol(second)
	switch {
	case !ok:
		return anonymous
	case operator != "[[" && isSymbol:
		return first + operator + name
	case operator != "[[":
		return anonymous
	case isSymbol:
		return first + "[[" + name + "]]"
	}
	if index, ok := m.index(second); ok {
		return first + "[[" + index + "]]"
	}
	return anonymous
}

// index returns the text of a constant.
func (m *reader) index(object uint64) (text string, ok bool) {
	data := object + vectorData
	switch {
	case m.Uint(object+vectorLength, 8) == 0:
		return "", false
	case m.is(object, typeStrings):
		return `"` + m.chars(m.Pointer(data)) + `"`, true
	case m.is(object, typeInts):
		return strconv.FormatInt(m.Int(data, 4), 10), true
	case m.is(object, typeReals):
		return strconv.FormatFloat(math.Float64frombits(m.Uint(data, 8)), 'f', 0, 64), true
	}
	return "", false
}
