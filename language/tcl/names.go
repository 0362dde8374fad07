package tcl

// mostName bounds how many bytes a name has.
const mostName = 1 << 10

// Names of what is no procedure.
const (
	script      = "<script>"
	eval        = "<eval>"
	precompiled = "<precompiled>"
	lambda      = "<lambda>"
)

// procedure returns the name of a call's procedure as "info frame" has it: "::ns::name",
// "<lambda>", "::Class method name"; "" if the call is of none.
func (m *reader) procedure(call uint64) string {
	if call == 0 {
		return ""
	}
	procedure := m.Pointer(call + m.CallProcedure)
	if procedure == 0 || !m.OK() {
		return ""
	}
	command := m.Pointer(procedure + m.ProcedureCommand)
	name, known := m.names[command] // methods have a command each time they are called
	if !known {
		name = m.fullName(command)
		if name == "" {
			name = m.extra(m.Pointer(command + m.NameData))
		}
		m.names[command] = name
	}
	return name
}

// fullName returns the name of a command with its namespace; "" if it has none.
func (m *reader) fullName(command uint64) string {
	entry := m.Pointer(command + m.NameEntry)
	if entry == 0 || !m.OK() {
		return ""
	}
	namespace := m.Pointer(command + m.NameNamespace)
	name := m.text(entry + m.EntryKey)
	switch {
	case namespace == 0 || !m.OK():
		return name
	case namespace == m.Pointer(m.interp+m.InterpGlobal):
		return "::" + name
	}
	return m.text(m.Pointer(namespace+m.NamespaceName)) + "::" + name
}

// text returns a text that ends with a zero.
func (m *reader) text(at uint64) string {
	text := m.CString(at)
	if m.budget.bytes -= len(text); m.budget.bytes < 0 {
		return ""
	}
	return text[:min(len(text), mostName)]
}

// value returns the text of a value; "" if it has none at the moment.
func (m *reader) value(at uint64) string {
	text := m.Pointer(at + m.ValueText)
	n := m.Uint(at+m.ValueLength, int(m.Size))
	if text == 0 || !m.OK() {
		return ""
	}
	if m.budget.bytes -= int(min(n, mostName)); m.budget.bytes < 0 {
		return ""
	}
	return m.Text(text, min(n, mostName))
}

// extra returns the name of what is like a procedure, and is no command: a method or a lambda.
func (m *reader) extra(at uint64) string {
	if at == 0 || !m.OK() || m.Uint(at+m.ExtraLength, int(m.ExtraLengthSize)) == 0 {
		return ""
	}
	field := at + m.ExtraFields
	name, data := m.text(m.Pointer(field+m.FieldName)), m.Pointer(field+m.FieldData)
	switch {
	case !m.OK():
		return ""
	case name == "lambda":
		return lambda
	case name != "method":
		return ""
	}
	// The first ones of 8.6 have the name as a value, and the method behind an interpreter: struct
	// PNI of tclOOMethod.c. Later ones have it in what they know of the method's procedure.
	later, method := m.Pointer(field+m.FieldFunction) != 0, uint64(8)
	if later {
		method = m.ExtraMethod
	}
	return m.declarer(field+m.Field, method) + " " + m.method(data, later)
}

// method returns what kind of method a call is of, and its name: of a value, or of what is known of
// the method's procedure.
func (m *reader) method(data uint64, later bool) string {
	if later {
		switch flags := m.Uint(data+m.ExtraFlags, 4); {
		case flags&m.FlagConstructor != 0:
			return "constructor"
		case flags&m.FlagDestructor != 0:
			return "destructor"
		}
		data = m.Pointer(m.Pointer(data+m.ExtraMethod) + m.MethodName)
	}
	switch name := m.value(data); name {
	case "<constructor>":
		return "constructor"
	case "<destructor>":
		return "destructor"
	default:
		return "method " + name
	}
}

// declarer returns the name of the class or of the object that has a method, of the second field
// of what is known of its call. The field's data has the method at an offset.
func (m *reader) declarer(field, offset uint64) string {
	kind := m.text(m.Pointer(field + m.FieldName))
	method := m.Pointer(m.Pointer(field+m.FieldData) + offset)
	object := uint64(0)
	switch kind {
	case "class":
		object = m.Pointer(m.Pointer(method+m.MethodClass) + m.ClassObject)
	case "object":
		object = m.Pointer(method + m.MethodObject)
	}
	if object == 0 || !m.OK() {
		m.Err()
		return "?"
	}
	name := m.fullName(m.Pointer(object + m.ObjectCommand))
	m.Err()
	return name
}
