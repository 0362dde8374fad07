package value_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/value"
)

// TestElemOfPlainTypes asks types that no entry describes for the types that they are made of.
func TestElemOfPlainTypes(t *testing.T) {
	list := frames(t, "c5", make([]byte, 64))
	if len(list) == 0 {
		t.Fatal("no frame has variables")
	}
	for _, text := range []string{"1", "'a'", "1.5", "1 == 2", "(void) 0", "$pc"} {
		v, err := list[0].Evaluate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		// The type of a register may be a pointer to code: what that is made of ends in void, too.
		e := v.Type.Elem()
		for range 3 {
			if e == nil {
				t.Errorf("%s: an element of type %s has no type", text, v.Type)
				break
			}
			e = e.Elem()
		}
		if e != nil && e.Kind != value.Void {
			t.Errorf("%s: an element's type is %s", text, e)
		}
	}
}
