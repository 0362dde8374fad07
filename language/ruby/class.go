package ruby

// method returns a method's name with its class, as releases from 3.4 on write it: "Foo#bar", or
// "Foo.bar" of an object that is a class or a module. Classes without a permanent name are left
// out.
func (m *memory) method(owner uint64, name string) string {
	if name == "" || !m.isClass(owner) {
		return name
	}
	mark := "#"
	if m.Pointer(owner)&m.flagsSingleton != 0 && m.isOf(owner, m.typeClass) {
		owner, mark = m.attached(owner), "."
		if !m.isClass(owner) {
			return name
		}
	}
	if path := m.classPath(owner); path != "" {
		return path + mark + name
	}
	return name
}

func (m *memory) isOf(v, kind uint64) bool {
	_, ok := m.is(v, kind)
	return ok
}

func (m *memory) isClass(v uint64) bool { return m.isOf(v, m.typeClass) || m.isOf(v, m.typeModule) }

// extension returns the address of the part of a class that objects of other types do not have.
func (m *memory) extension(class uint64) uint64 {
	if m.classExtension != absent {
		return m.Pointer(class + m.classExtension)
	}
	return class + m.classEmbedded
}

// classPath returns the permanent name of a class, "" if it has none.
func (m *memory) classPath(class uint64) string {
	if path, known := m.paths[class]; known {
		return path
	}
	path := ""
	if at := m.extension(class); m.extensionPath == absent {
		path, _ = m.text(m.variable(class, "__classpath__"))
	} else if m.Uint(at+m.extensionPermanentByte, 1)>>m.extensionPermanentBit&1 != 0 {
		path, _ = m.text(m.Pointer(at + m.extensionPath))
	}
	m.paths[class] = path
	return path
}

// attached returns the object whose singleton class a class is.
func (m *memory) attached(class uint64) uint64 {
	if m.extensionAttached == absent {
		return m.variable(class, "__attached__")
	}
	return m.Pointer(m.extension(class) + m.extensionAttached)
}

// variable returns a variable of a class, 0 if it has none of this name. Up to 3.1, classes have a
// table of them, with their own names among them. An entry of the table has three words: a hash,
// the ID, and the value.
func (m *memory) variable(class uint64, name string) uint64 {
	if m.extensionVariables == absent {
		return m.variableByShape(class, name)
	}
	table := m.Pointer(m.extension(class) + m.extensionVariables)
	if table == 0 {
		return 0
	}
	entries, first, bound := m.Pointer(table+m.tableEntries), m.Pointer(table+m.tableStart), m.Pointer(table+m.tableBound)
	const entry = 3 * 8
	for i := first; i < bound && m.step(); i++ {
		at := entries + i*entry
		if deleted := m.Pointer(at) == ^uint64(0); !deleted && m.idText(m.Pointer(at+8)) == name {
			return m.Pointer(at + 16)
		}
	}
	return 0
}

// mostShapes bounds how many variables an object has.
const mostShapes = 1 << 12

// variableByShape returns a variable of a class, 0 if it has none of this name: in 3.2, the upper
// half of an object's flags is the number of its shape. Each shape has one variable more than its
// parent; the last one has no parent.
func (m *memory) variableByShape(class uint64, name string) uint64 {
	if m.vmShapes == absent || m.extensionValues == absent || m.vm == 0 {
		return 0
	}
	const none = 1<<32 - 1
	shapes := m.Pointer(m.vm + m.vmShapes)
	number := m.Pointer(class) >> 32
	for n := 0; n < mostShapes && m.step(); n++ {
		at := shapes + number*m.shapeSize
		parent := m.Uint(at+m.shapeParent, 4)
		if parent == none {
			break
		}
		if m.Uint(at+m.shapeType, 1) == m.shapeVariable && m.idText(m.Pointer(at+m.shapeName)) == name {
			count := m.Uint(at+m.shapeCount, 4)
			if count == 0 {
				return 0
			}
			return m.Pointer(m.Pointer(m.extension(class)+m.extensionValues) + 8*(count-1))
		}
		number = parent
	}
	return 0
}
