package value

// ofLanguage writes a value in the way of its language, if that is not C's. It reports false if it
// is.
func (w *Writer) ofLanguage(v *Value, t *Type) bool {
	if write := v.Type.r.Printers.Languages[v.language()]; write != nil {
		return write(w, v)
	}
	return false
}

// language returns the language that a value is written in, by GDB's name of it: the frame's
// language or, without a frame, its type's.
func (v *Value) language() string {
	if v.frame != nil && len(v.frame.scopes.list) > 0 {
		return v.frame.language()
	}
	return v.Type.Strip().Language()
}

// language returns the language of the frame's function.
func (c *context) language() string {
	if c.scopes.language == "" {
		c.scopes.language = c.scopes.list[0].Language()
	}
	return c.scopes.language
}
