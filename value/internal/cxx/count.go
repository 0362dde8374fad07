package cxx

import "github.com/sfwalk/sfwalk/value"

// Count returns how many elements a container has, by the children that its printer shows. name is
// its type's name without namespaces. ok is false for an object that is no container.
func Count(v *value.Value, name string) (n int64, ok bool) {
	switch name {
	case "unique_ptr", "shared_ptr", "weak_ptr", "optional", "variant", "any", "pair", "tuple", "atomic":
		return 0, false
	}
	c, ok := (&value.Printer{}).Contents(v)
	if !ok {
		return 0, false
	}
	for range c.Items {
		n++
	}
	if c.Pairs {
		n /= 2
	}
	return n, true
}
