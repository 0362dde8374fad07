package value

import "errors"

// Print writes a value as GDB's print does: of a pointer or a reference with its type, "(struct
// node *) 0x4052a0", unless the text that it points to says enough.
func (p *Printer) Print(v *Value) string {
	t := v.Type.Strip()
	err := v.Err()
	if err != nil && !errors.Is(err, ErrSynthetic) {
		return p.Text(v)
	}
	if !p.Raw && v.Type.Language() == "go" { // the text has the type
		return p.Text(v)
	}
	switch t.Kind {
	case Pointer:
		if v.Type.Unqualified().Kind == Pointer {
			if elem := t.Elem().Unqualified(); elem.Name == "char" && t.Elem().Language() != "rust" {
				return p.Text(v)
			}
		}
		return "(" + v.Type.String() + ") " + p.Text(v)
	case Reference, RvalueReference:
		return "(" + v.Type.String() + ") " + p.Text(v)
	}
	return p.Text(v)
}
