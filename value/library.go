package value

// library writes an object that a printer knows. It reports false if none does. t is the type of v
// without typedefs and qualifiers.
func (w *Writer) library(v *Value, t *Type) bool {
	if t.Kind == Reference { // to such an object: that is written in its place
		elem := t.Elem().Strip()
		if elem.Kind == Reference || len(elem.showers()) == 0 || v.Err() != nil {
			return false
		}
		to := v.Deref()
		if err := to.Err(); err != nil {
			if !IsAbsent(err) {
				w.abort(err)
				return true
			}
			return false
		}
		return w.library(&to, to.Type.Strip())
	}
	s := w.show(v, t)
	if s == nil {
		return false
	}
	switch {
	case s.Write == nil:
		w.shown(s)
	case w.contents == nil:
		s.Write(w)
	}
	return true
}

// show returns how an object is written; nil if no printer knows it.
func (w *Writer) show(v *Value, t *Type) *Shown {
	list := t.showers()
	if len(list) == 0 || w.nesting > maxNesting {
		return nil
	}
	if v.Err() != nil && len(v.gaps) == 0 { // of an object that is known in part, what is asked for may be there
		return nil
	}
	for i := range list {
		if s := list[i].show(w, v); s != nil {
			return s
		}
	}
	return nil
}

// maxInside bounds objects that contain one another and nothing else. GDB's printers end at some
// hundreds, with an error.
const maxInside = 100

// Show returns how the printers write an object that is all that another one contains, such as a
// std::optional's, or what a reference refers to. It is nil if none knows the object. endless says
// that objects contain one another without an end, as broken ones may do: then a printer returns
// nil.
func (w *Writer) Show(v *Value) (s *Shown, endless bool) {
	if w.inside++; w.inside > maxInside {
		w.endless = true
	} else {
		t := v.Type.Strip()
		if t.Kind == Reference {
			to := v.Deref()
			v, t = &to, to.Type.Strip()
		}
		s = w.show(v, t)
	}
	if w.inside--; w.endless {
		w.endless = w.inside > 0
		return nil, true
	}
	return s, false
}

// summary writes an argument of a type of a library: a text, or what a container is, without its
// elements.
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
