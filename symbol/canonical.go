package symbol

import (
	"strconv"
	"strings"
)

// CanonicalName spells the template arguments in a name of C++ as GDB does where GDB can parse
// them: "unsigned long" for gcc's "long unsigned int", "char const*" for "const char *", "> >" for
// ">>".
func CanonicalName(name string) string {
	if strings.IndexByte(name, '<') < 0 || len(name) > maxCanonical || unparsed(name) {
		return name
	}
	return canonicalScoped(name, 0)
}

// maxCanonical bounds the names that are spelled anew.
const maxCanonical = 1 << 14

// canonicalScoped spells the arguments of a name such as "std::vector<int>::iterator".
func canonicalScoped(name string, depth int) string {
	if depth > maxDepth {
		return name
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(name, '<')
		if i < 0 || isOperator(name[:i]) {
			break
		}
		end, args := templateArguments(name[i:])
		if end < 0 {
			break
		}
		b.WriteString(name[:i+1])
		for k, a := range args {
			if k > 0 {
				b.WriteString(", ")
			}
			b.WriteString(canonicalType(a, depth+1))
		}
		if strings.HasSuffix(b.String(), ">") {
			b.WriteByte(' ')
		}
		b.WriteByte('>')
		name = name[i+end:]
	}
	b.WriteString(name)
	return b.String()
}

// templateArguments splits "<a, b>…". end is the offset behind the list; it is negative if the list
// does not end.
func templateArguments(text string) (end int, args []string) {
	depth, start := 0, 1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '<', '(', '[':
			depth++
		case '>', ')', ']':
			if c == '>' && i > 0 && text[i-1] == '-' {
				continue
			}
			if depth--; depth == 0 {
				if last := strings.TrimSpace(text[start:i]); last != "" || len(args) > 0 {
					args = append(args, last)
				}
				return i + 1, args
			}
		case ',':
			if depth == 1 {
				args = append(args, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	return -1, nil
}

// literal spells a number with the letters of its type as GDB does, 3ul for clang's 3UL. It returns
// "" for anything else.
func literal(name string) string {
	digits := strings.TrimRight(name, "ulUL")
	if _, err := strconv.ParseInt(digits, 10, 64); err != nil || digits == name {
		return ""
	}
	return digits + strings.ToLower(name[len(digits):])
}

// canonicalType spells a template argument: qualifiers stand behind what they qualify, and stars
// directly behind the type.
func canonicalType(name string, depth int) string {
	constant, volatile := false, false
	for {
		if rest, ok := strings.CutPrefix(name, "const "); ok {
			constant, name = true, rest
		} else if rest, ok := strings.CutPrefix(name, "volatile "); ok {
			volatile, name = true, rest
		} else {
			break
		}
	}
	if number := literal(name); number != "" {
		return number
	}
	if name == "" || strings.IndexByte(`0123456789-('"&[*`, name[0]) >= 0 && !strings.HasPrefix(name, anonymousSpace) {
		return name
	}
	// The type's own name goes as far as a star, an ampersand, a qualifier, or a list of parameters
	// or bounds.
	end := len(name)
	for i, level := 0, 0; i < len(name); i++ {
		switch c := name[i]; {
		case strings.HasPrefix(name[i:], anonymousSpace):
			i += len(anonymousSpace) - 1
		case c == '<':
			level++
		case c == '>':
			level--
		case level > 0:
		case c == '*' || c == '&' || c == '(' || c == '[' || strings.HasPrefix(name[i:], " const") || strings.HasPrefix(name[i:], " volatile"):
			end = i
		}
		if end < len(name) {
			break
		}
	}
	base, rest := strings.TrimSpace(name[:end]), strings.TrimSpace(name[end:])
	if base == "" {
		return name
	}
	if strings.IndexByte(base, '<') >= 0 {
		base = canonicalScoped(base, depth)
	} else {
		base = shortNames.Replace(base)
	}
	for {
		if after, ok := strings.CutPrefix(rest, "const"); ok {
			constant, rest = true, strings.TrimSpace(after)
		} else if after, ok := strings.CutPrefix(rest, "volatile"); ok {
			volatile, rest = true, strings.TrimSpace(after)
		} else {
			break
		}
	}
	if constant {
		base += " const"
	}
	if volatile {
		base += " volatile"
	}
	return base + canonicalDeclarator(rest, depth)
}

// canonicalDeclarator spells what is behind the name of a type: stars, ampersands, qualifiers,
// bounds, and lists of parameters.
func canonicalDeclarator(text string, depth int) string {
	var b strings.Builder
	for text != "" {
		switch c := text[0]; {
		case c == ' ':
			text = text[1:]
		case strings.HasPrefix(text, "const"), strings.HasPrefix(text, "volatile"):
			word, rest, _ := strings.Cut(text, " ")
			b.WriteString(" " + word)
			text = rest
		case c == '[':
			if !strings.HasSuffix(b.String(), "]") {
				b.WriteByte(' ')
			}
			end := strings.IndexByte(text, ']') + 1
			if end == 0 {
				end = len(text)
			}
			b.WriteString(text[:end])
			text = text[end:]
		case c == '(':
			end, list := templateArguments(text)
			if end < 0 || depth > maxDepth {
				return b.String() + text
			}
			if inner := text[1 : end-1]; !strings.HasSuffix(b.String(), ")") && inner != "" && (inner[0] == '*' || inner[0] == '&' || isMemberPointer(inner+")")) {
				b.WriteString(" (" + canonicalInner(inner, depth+1) + ")")
			} else {
				b.WriteString(canonicalParameters(list, depth+1))
			}
			text = text[end:]
		default:
			b.WriteByte(c)
			text = text[1:]
		}
	}
	return b.String()
}

// canonicalInner spells a declarator in brackets, such as a pointer to a function has.
func canonicalInner(text string, depth int) string {
	i := strings.IndexAny(text, "*&")
	if i < 0 {
		return text
	}
	return text[:i] + strings.TrimPrefix(strings.Replace(canonicalDeclarator(text[i:], depth), "* (", "*(", 1), " ")
}

// canonicalParameters spells a list of parameters.
func canonicalParameters(list []string, depth int) string {
	if len(list) == 1 && list[0] == "void" {
		return "()"
	}
	var b strings.Builder
	b.WriteByte('(')
	for i, p := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(canonicalType(p, depth))
	}
	b.WriteByte(')')
	return b.String()
}

// CanonicalFunction spells the name of a function of C++ with its parameters as GDB does if the
// function has no linkage name. The name begins with the function's scope and may end in template
// arguments; behind the parameters is end, such as " const". If GDB cannot parse the name with the
// parameters, all of it is left as the debug information has it.
func CanonicalFunction(name string, parameters []string, end string) string {
	if len(parameters) == 0 {
		parameters = []string{"void"}
	}
	full := name + "(" + strings.Join(parameters, ", ")
	dotted := strings.Contains(strings.TrimSuffix(full, "..."), ".") // __cxx_global_var_init.5, or a coroutine's frame
	full += ")" + end
	if len(full) > maxCanonical || unparsed(full) || dotted {
		return full
	}
	if strings.IndexByte(name, '<') >= 0 {
		name = canonicalScoped(name, 0)
	}
	return name + canonicalParameters(parameters, 0) + end
}

const anonymousSpace = "(anonymous namespace)"

// CanonicalType spells a type of C++ as CanonicalName spells one among the arguments of a template:
// "char const*" for "const char *".
func CanonicalType(name string) string {
	if len(name) > maxCanonical || unparsed(name) {
		return name
	}
	return canonicalType(name, 0)
}

// SplitTemplate splits the name of a type that is made of a template of C++ into the template's
// name and the arguments. Names without arguments, and names of members of such types, have none.
func SplitTemplate(name string) (template string, args []string) {
	i := strings.IndexByte(name, '<')
	if i < 0 {
		return name, nil
	}
	if end, args := templateArguments(name[i:]); end == len(name)-i {
		return name[:i], args
	}
	return name, nil
}
