package value

// goLibrary writes a value of a type of Go as its users know it.
func (w *writer) goLibrary(v *Value, t *Type) bool { return false }
