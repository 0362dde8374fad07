package java

import "strings"

// mostDimensions bounds the dimensions of an array (the Java Virtual Machine Specification, 4.3.2).
const mostDimensions = 255

// parameters returns the descriptors of a method's parameters, by the method's own descriptor
// ("(I[Ljava/lang/String;)V"). ok is false if it is none.
func parameters(method string) (list []string, ok bool) {
	rest, ok := strings.CutPrefix(method, "(")
	for ok && !strings.HasPrefix(rest, ")") {
		n := descriptorLength(rest)
		if n == 0 || len(list) == mostDimensions {
			return nil, false
		}
		list, rest = append(list, rest[:n]), rest[n:]
	}
	return list, ok
}

// descriptorLength returns the length of the type's descriptor with which a text begins, 0 if it
// begins with none.
func descriptorLength(text string) int {
	n := 0
	for n < len(text) && n < mostDimensions && text[n] == '[' {
		n++
	}
	switch {
	case n == len(text):
		return 0
	case strings.IndexByte("ZBCSIJFD", text[n]) >= 0:
		return n + 1
	case text[n] != 'L':
		return 0
	}
	if end := strings.IndexByte(text[n:], ';'); end > 1 {
		return n + end + 1
	}
	return 0
}

// basicTypes are the types that are no classes, by their descriptors.
var basicTypes = map[byte]string{
	'Z': "boolean", 'B': "byte", 'C': "char", 'S': "short", 'I': "int", 'J': "long", 'F': "float", 'D': "double",
}

// typeName returns a type as Java's sources have it: "int", "java.lang.String[]".
func typeName(descriptor string) string {
	of := strings.TrimLeft(descriptor, "[")
	name := ""
	switch {
	case of == "":
		return ""
	case of[0] == 'L':
		name = className(strings.TrimSuffix(of[1:], ";"))
	default:
		name = basicTypes[of[0]]
	}
	return name + strings.Repeat("[]", len(descriptor)-len(of))
}

// wide reports whether a value of a type takes two slots.
func wide(descriptor string) bool { return descriptor == "J" || descriptor == "D" }

// isReference reports whether a value of a type is a reference.
func isReference(descriptor string) bool {
	return strings.HasPrefix(descriptor, "L") || strings.HasPrefix(descriptor, "[")
}
