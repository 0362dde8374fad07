package symbol

import "fmt"

// Unit returns the first entry of the unit that e is in (DW_TAG_compile_unit and its like): the
// entries of the unit are its children.
func (e *Entry) Unit() (first *Entry, err error) {
	err = e.s.reading(e.Ref, func(d *debugInfo, u *unit) error {
		first = nil
		return d.rawEntries(e.s, u, e.Ref, u.Entry, func(x *Entry) bool {
			first = x
			return false
		})
	})
	if err == nil && (first == nil || first.Tag == 0) {
		err = fmt.Errorf("unit of offset %#x: %w", e.off, ErrNoEntry)
	}
	return first, err
}
