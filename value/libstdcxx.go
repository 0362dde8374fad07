package value

// cxxLibrary writes a value of a type of C++'s standard library as its users know it.
func (w *writer) cxxLibrary(v *Value, t *Type) bool { return false }
