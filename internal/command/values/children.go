package values

import (
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/value"
)

// Child is a part of a value: a member, an element, or what a container contains.
type Child struct {
	Name     string       `json:"name,omitempty"`
	Type     string       `json:"type,omitempty"`
	Value    string       `json:"value"`
	Address  *address.Hex `json:"address,omitempty"`
	Children []Child      `json:"children,omitempty"`
}

// maxChildren bounds the parts of one variable, with their parts.
const maxChildren = 2000

// children returns the parts of a value in JSON. What pointers point to is not among them.
func (r *Reader) children(v *value.Value) []Child {
	left := maxChildren
	return r.appendChildren(v, r.printer.Depth, &left)
}

func (r *Reader) appendChildren(v *value.Value, depth int, left *int) (list []Child) {
	pr := &r.printer
	if depth == 0 || *left <= 0 {
		return nil
	}
	add := func(c *value.Child) bool {
		if *left <= 0 || pr.Elements >= 0 && len(list) >= pr.Elements {
			return false
		}
		if *left--; !pr.Budget.Spend(costField) {
			return false
		}
		x := Child{Name: c.Name, Value: c.Text}
		if c.Value.Type != nil {
			x.Type, x.Value = c.Value.Type.String(), pr.Summary(&c.Value)
			if c.Value.Place == value.InMemory && c.Value.Bits == 0 {
				x.Address = new(address.At(c.Value.Addr))
			}
			x.Children = r.appendChildren(&c.Value, depth-1, left)
		}
		list = append(list, x)
		return true
	}
	if contents, ok := pr.Contents(v); ok {
		for c := range contents.Items {
			if !add(&c) {
				break
			}
		}
		return list
	}
	if _, ok := pr.OfLibrary(v); ok {
		return nil // a text, or the like
	}
	children := v.Children()
	for _, c := range children.From(0) {
		if c.Relation == value.Target || !add(&c) {
			break
		}
	}
	return list
}
