package r

// Bounds of what is looked through for a place.
const (
	mostAttributes = 64
	mostTables     = 16      // the tables of bytecode are the last ones of its constants
	mostCode       = 1 << 24 // instructions and constants of one function
	mostBuckets    = 1 << 10
	mostInBucket   = 1 << 8
	mostFiles      = 1 << 14
)

// inCode returns the srcref from which bytecode made a call; 0 if the code has none.
func (m *reader) inCode(context uint64, l *layout) (srcref uint64) {
	body := m.Pointer(context + contextBody)
	if body == 0 || !m.is(body, typeBytecode) {
		return 0
	}
	constants := m.Pointer(body + listCdr)
	n := m.Uint(constants+vectorLength, 8)
	if !m.is(constants, typeVector) || n > mostCode {
		return 0
	}
	table := uint64(0)
	for i := n; i > 0 && n-i < mostTables; i-- {
		object := m.Pointer(constants + vectorData + 8*(i-1))
		if m.is(object, typeInts) && m.class(object) == "srcrefsIndex" {
			table = object
			break
		}
	}
	if table == 0 {
		return 0
	}
	instruction := uint64(0)
	if l.relative != 0 {
		instruction = m.Uint(context+l.relative, 8)
	}
	if int64(instruction) <= 0 {
		code := m.Pointer(body+listCar) + vectorData
		instruction = (m.Pointer(m.Pointer(context+contextPC)) - code) / 8
	}
	if instruction >= m.Uint(table+vectorLength, 8) || instruction > mostCode {
		return 0
	}
	index := m.Uint(table+vectorData+4*instruction, 4)
	if index >= n {
		return 0
	}
	return m.Pointer(constants + vectorData + 8*index)
}

// attribute returns an attribute of an object, 0 if it has none of the name.
func (m *reader) attribute(object uint64, name string) uint64 {
	at := m.Pointer(object + objectAttrib)
	for range mostAttributes {
		if !m.is(at, typeList) {
			break
		}
		if tag, _ := m.symbol(m.Pointer(at + listTag)); tag == name {
			return m.Pointer(at + listCar)
		}
		at = m.Pointer(at + listCdr)
	}
	return 0
}

// class returns the first class of an object.
func (m *reader) class(object uint64) string { return m.text(m.attribute(object, "class")) }

// text returns the first text of a vector of texts.
func (m *reader) text(object uint64) string {
	if object == 0 || !m.is(object, typeStrings) || m.Uint(object+vectorLength, 8) == 0 {
		return ""
	}
	return m.chars(m.Pointer(object + vectorData))
}

// place returns the file and the first line of a srcref; nothing if it is none.
func (m *reader) place(srcref uint64) (file string, line int) {
	if srcref == 0 || !m.is(srcref, typeInts) || m.Uint(srcref+vectorLength, 8) < 4 {
		return "", 0
	}
	environment := m.attribute(srcref, "srcfile")
	file, ok := m.files[environment]
	if !ok {
		file = m.file(environment)
		if len(m.files) < mostFiles {
			m.files[environment] = file
		}
	}
	if line = int(m.Int(srcref+vectorData, 4)); file == "" || line < 0 {
		return "", 0
	}
	return file, line
}

// file returns the variable filename of an environment.
func (m *reader) file(environment uint64) string {
	if environment == 0 || !m.is(environment, typeEnvironment) {
		return ""
	}
	if file, ok := m.variable(m.Pointer(environment+environFrame), "filename"); ok {
		return file
	}
	table := m.Pointer(environment + environHashes)
	if !m.is(table, typeVector) {
		return ""
	}
	for i := range min(m.Uint(table+vectorLength, 8), mostBuckets) {
		if file, ok := m.variable(m.Pointer(table+vectorData+8*i), "filename"); ok {
			return file
		}
	}
	return ""
}

// variable returns a text of a list of variables.
func (m *reader) variable(list uint64, name string) (text string, ok bool) {
	for range mostInBucket {
		if !m.is(list, typeList) {
			break
		}
		if tag, _ := m.symbol(m.Pointer(list + listTag)); tag == name {
			return m.text(m.Pointer(list + listCar)), true
		}
		list = m.Pointer(list + listCdr)
	}
	return "", false
}
