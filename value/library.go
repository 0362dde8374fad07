package value

// library writes a value of a type of a library as that library's users know it. It reports false if there is
// no such type. t is the type of v without typedefs and qualifiers.
func (w *Writer) library(v *Value, t *Type) bool {
	switch t.Language() {
	case "c++":
		return w.cxxLibrary(v, t)
	case "rust":
		return w.rustLibrary(v, t)
	case "go":
		return w.goLibrary(v, t)
	}
	return false
}

// summary writes an argument of a type of a library: a text, or what a container is, without its elements.
func (p *Printer) summary(v *Value) (string, bool) {
	t := v.Type.Strip()
	if p.Raw || v.Err() != nil {
		return "", false
	}
	w := p.writer()
	w.summary = true
	if !w.library(v, t) {
		return "", false
	}
	if w.failure != nil {
		w.buf = append(w.buf, unreadable(w.failure)...)
	}
	return w.String(), true
}

// unreadable is what GDB writes where the elements of a container cannot be read.
func unreadable(err error) string { return "<error reading variable: " + err.Error() + ">" }
