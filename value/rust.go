package value

// rustLibrary writes a value of a type of Rust as its users know it.
func (w *writer) rustLibrary(v *Value, t *Type) bool { return false }
