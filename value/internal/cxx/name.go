package cxx

import (
	"strconv"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/value"
)

// NameOf returns the name of a type of C++ without the arguments of its template, and that without
// namespaces. Both are "" of a type that is no struct, that a file only declares, or whose name is
// none of some.
func NameOf(t *value.Type, names map[string]bool) (name, short string) {
	if t.Kind != value.Struct && t.Kind != value.Union || t.Declared || t.Language() != "c++" {
		return "", ""
	}
	short, _, _ = strings.Cut(t.Name, "<")
	if !names[short] {
		return "", ""
	}
	name, ok := Template(t.FullName())
	if !ok || !strings.HasSuffix(name, short) {
		return "", ""
	}
	return name, short
}

// Template returns the name of a template from the name of a type made of it. ok is false if the
// type is a member of such a type.
func Template(name string) (template string, ok bool) {
	i := strings.IndexByte(name, '<')
	if i < 0 {
		return name, true
	}
	depth := 0
	for k := i; k < len(name); k++ {
		switch name[k] {
		case '<', '(':
			depth++
		case '>', ')':
			depth--
		}
		if depth == 0 && k != len(name)-1 {
			return name[:i], false
		}
	}
	return name[:i], true
}

// LastName returns a name without the scopes before it.
func LastName(name string) string {
	if i := strings.LastIndex(name, "::"); i >= 0 {
		return name[i+2:]
	}
	return name
}

// ShortName returns the name of a type of the library as its printers write it: std::string, and
// templates without the arguments that are as they are by default. Other types are written as
// usual.
func (o *Object) ShortName(t *value.Type) string {
	if t.Kind != value.Struct {
		return o.Without(t.String())
	}
	return o.shortNameAt(t, 0)
}

func (o *Object) shortNameAt(t *value.Type, depth int) string {
	usually := func() string { return o.Without(t.String()) }
	if depth > maxTypes {
		return usually()
	}
	switch t.Kind {
	case value.Pointer:
		return o.shortNameAt(t.Elem(), depth+1) + "*"
	case value.Reference:
		return o.shortNameAt(t.Elem(), depth+1) + "&"
	case value.RvalueReference:
		return o.shortNameAt(t.Elem(), depth+1) + "&&"
	case value.Array:
		if b := t.Bounds(); b.Known {
			return o.shortNameAt(t.Elem(), depth+1) + "[" + strconv.FormatUint(b.Count, 10) + "]"
		}
		return o.shortNameAt(t.Elem(), depth+1) + "[]"
	case value.Struct:
	default:
		return usually()
	}
	full := o.Without(t.FullName())
	if name := commonNames()[spaceless(full)]; name != "" {
		return name
	}
	template, ok := Template(full)
	usual, known := usualArguments()[strings.TrimPrefix(strings.Replace(template, "std::__debug::", "std::", 1), "std::")]
	if usual == nil {
		usual, known = usualArguments()[strings.TrimPrefix(template, "std::__cxx11::")]
	}
	if !ok || !known {
		return usually()
	}
	var shown []string
	var all []string
	for i, a := range t.TemplateArguments() {
		if a.Value != nil {
			return usually()
		}
		all = append(all, o.Without(a.Type.String()))
		if i >= len(usual) {
			return usually()
		}
		if usual[i] == "" {
			shown = append(shown, o.shortNameAt(a.Type, depth+1))
			continue
		}
		expected := usual[i]
		for k, name := range all {
			expected = strings.ReplaceAll(expected, "{"+strconv.Itoa(k)+"}", name)
		}
		if spaceless(symbol.CanonicalName(expected)) != spaceless(o.Without(a.Type.String())) {
			return usually()
		}
	}
	return strings.Replace(template, "std::__cxx11::", "std::", 1) + "<" + strings.Join(shown, ", ") + ">"
}

// usualArguments are the arguments of templates by default; "" for an argument that has no default.
var usualArguments = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"unique_ptr":         {"", "std::default_delete<{0}>"},
		"deque":              {"", "std::allocator<{0}>"},
		"forward_list":       {"", "std::allocator<{0}>"},
		"list":               {"", "std::allocator<{0}>"},
		"vector":             {"", "std::allocator<{0}>"},
		"map":                {"", "", "std::less<{0}>", "std::allocator<std::pair<{0} const, {1}>>"},
		"multimap":           {"", "", "std::less<{0}>", "std::allocator<std::pair<{0} const, {1}>>"},
		"set":                {"", "std::less<{0}>", "std::allocator<{0}>"},
		"multiset":           {"", "std::less<{0}>", "std::allocator<{0}>"},
		"unordered_map":      {"", "", "std::hash<{0}>", "std::equal_to<{0}>", "std::allocator<std::pair<{0} const, {1}>>"},
		"unordered_multimap": {"", "", "std::hash<{0}>", "std::equal_to<{0}>", "std::allocator<std::pair<{0} const, {1}>>"},
		"unordered_set":      {"", "std::hash<{0}>", "std::equal_to<{0}>", "std::allocator<{0}>"},
		"unordered_multiset": {"", "std::hash<{0}>", "std::equal_to<{0}>", "std::allocator<{0}>"},
	}
})

// commonNames are the names that the library gives to some types, by the types' own, without
// blanks.
var commonNames = sync.OnceValue(func() map[string]string {
	commonNames := map[string]string{}
	for _, c := range [...][2]string{{"char", ""}, {"wchar_t", "w"}, {"char8_t", "u8"}, {"char16_t", "u16"}, {"char32_t", "u32"}} {
		traits := c[0] + ",std::char_traits<" + c[0] + ">"
		for _, space := range [...]string{"std::", "std::__cxx11::"} {
			commonNames[space+"basic_string<"+traits+",std::allocator<"+c[0]+">>"] = "std::" + c[1] + "string"
		}
		commonNames["std::basic_string_view<"+traits+">"] = "std::" + c[1] + "string_view"
		if c[1] != "" && c[1] != "w" {
			continue
		}
		for _, name := range [...]string{"ios", "streambuf", "istream", "ostream", "iostream", "filebuf", "ifstream", "ofstream", "fstream"} {
			commonNames["std::basic_"+name+"<"+traits+">"] = "std::" + c[1] + name
		}
		for _, name := range [...]string{"stringbuf", "istringstream", "ostringstream", "stringstream"} {
			commonNames["std::__cxx11::basic_"+name+"<"+traits+",std::allocator<"+c[0]+">>"] = "std::" + c[1] + name
		}
		commonNames["std::__cxx11::basic_regex<"+c[0]+",std::__cxx11::regex_traits<"+c[0]+">>"] = "std::" + c[1] + "regex"
	}
	return commonNames
})

func spaceless(s string) string { return strings.ReplaceAll(s, " ", "") }

// maxTypes bounds types that are made of each other.
const maxTypes = 64
