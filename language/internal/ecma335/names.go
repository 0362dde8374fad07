package ecma335

import (
	"sort"
	"strings"
)

const (
	mostNested = 64
	mostParams = 64
)

// Names of a method, of which each may be "".
type Names struct {
	Type   string // with its namespace, and the types that it is nested in: "Shop.Cart`1.Item"
	Method string // with its type parameters: "Add[T]"
}

// Method returns the names of the method of a row. What the compiler has made of an async method,
// or of an iterator, has the names of that method.
func (m *Metadata) Method(row uint32) (n Names) {
	typ := m.typeOf(row)
	name := m.string(m.cell(methods, row, 3))
	if name == "MoveNext" {
		if source, outer, ok := m.machineOf(typ); ok {
			return Names{m.Type(outer), source}
		}
	}
	return Names{m.Type(typ), name + brackets(m.params(row<<1|1))}
}

// typeOf returns the type that a method is of: the last one whose methods do not begin behind it.
func (m *Metadata) typeOf(method uint32) uint32 {
	return m.search(typeDefs, 5, method+1) - 1
}

// Type returns the name of the type of a row: "Shop.Cart`1.Item".
func (m *Metadata) Type(row uint32) string {
	if row <= 1 { // the first row stands for what is in no type
		return ""
	}
	var outer []string // the innermost first
	for range mostNested {
		if outer = append(outer, m.string(m.cell(typeDefs, row, 1))); !m.isNested(row) {
			break
		}
		row = m.enclosing(row)
	}
	if space := m.string(m.cell(typeDefs, row, 2)); space != "" {
		outer = append(outer, space)
	}
	for i, j := 0, len(outer)-1; i < j; i, j = i+1, j-1 {
		outer[i], outer[j] = outer[j], outer[i]
	}
	return strings.Join(outer, ".")
}

// isNested reports whether a type is nested in another one (II.23.1.15).
func (m *Metadata) isNested(row uint32) bool { return m.cell(typeDefs, row, 0)&7 >= 2 }

// enclosing returns the type that another one is nested in; 0 if there is none.
func (m *Metadata) enclosing(row uint32) uint32 {
	i := m.search(nestedClasses, 0, row)
	if m.cell(nestedClasses, i, 0) != row {
		return 0
	}
	return m.cell(nestedClasses, i, 1)
}

// search returns the first row of a sorted table whose cell in a column is at least v.
func (m *Metadata) search(table, column int, v uint32) uint32 {
	n := int(m.rows[table])
	return uint32(sort.Search(n, func(i int) bool { return m.cell(table, uint32(i)+1, column) >= v })) + 1
}

// params returns the names of the type parameters of a type or a method, by its coded index.
func (m *Metadata) params(owner uint32) (list []string) {
	for i := m.search(genericParams, 2, owner); len(list) < mostParams && i <= m.rows[genericParams] && m.cell(genericParams, i, 2) == owner; i++ {
		list = append(list, m.string(m.cell(genericParams, i, 3)))
	}
	return list
}

func brackets(params []string) string {
	if len(params) == 0 {
		return ""
	}
	return "[" + strings.Join(params, ",") + "]"
}

// machineOf returns the method of which the compiler has made the type of a row, with the method's
// type parameters, and the type that the method is of. Such a type is called "<Method>d__1", and is
// nested. Its type parameters are the ones of the method behind the ones of the type.
func (m *Metadata) machineOf(row uint32) (method string, outer uint32, ok bool) {
	name := m.string(m.cell(typeDefs, row, 1))
	end := strings.LastIndex(name, ">d")
	if len(name) == 0 || name[0] != '<' || end < 0 || !m.isNested(row) {
		return "", 0, false
	}
	if method, outer = name[1:end], m.enclosing(row); outer == 0 || method == "" {
		return "", 0, false
	}
	own, before := m.params(row<<1), len(m.params(outer<<1))
	if len(own) < before {
		return "", 0, false
	}
	return method + brackets(own[before:]), outer, true
}
