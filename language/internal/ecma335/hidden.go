package ecma335

const (
	aggressive     = 0x100 // of a method's implementation flags (II.23.1.11): it is to be inlined
	hiding         = "StackTraceHiddenAttribute"
	mostAttributes = 256 // of a method or a type
)

// Hidden reports whether .NET's own traces leave out the method of a row: it is to be inlined
// wherever it is called, or an attribute says so of it or of its type.
func (m *Metadata) Hidden(row uint32) bool {
	const ofMethod, ofType = 0, 3 // tags of what has attributes
	return m.cell(methods, row, 1)&aggressive != 0 || m.hides(row<<5|ofMethod) || m.hides(m.typeOf(row)<<5|ofType)
}

// hides reports whether what has a coded index has the attribute that hides it.
func (m *Metadata) hides(owner uint32) bool {
	i := m.search(attributes, 0, owner)
	for n := 0; n < mostAttributes && m.cell(attributes, i, 0) == owner; n++ {
		if m.attribute(m.cell(attributes, i, 1)) == hiding {
			return true
		}
		i++
	}
	return false
}

// attribute returns the name of the type of an attribute, by the coded index of its constructor.
func (m *Metadata) attribute(constructor uint32) string {
	row := constructor >> 3
	switch constructor & 7 {
	case 2: // a method of this assembly
		return m.string(m.cell(typeDefs, m.typeOf(row), 1))
	case 3: // another assembly's
		of := m.cell(memberRefs, row, 0)
		switch of & 7 {
		case 0:
			return m.string(m.cell(typeDefs, of>>3, 1))
		case 1:
			return m.string(m.cell(typeRefs, of>>3, 1))
		}
	}
	return ""
}
