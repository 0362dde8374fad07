package short

import (
	"strings"
	"sync"
)

// Names makes names short. Its zero value is ready for use. It is safe for concurrent use.
type Names struct {
	mu    sync.Mutex
	known map[key]string
}

type key struct {
	name       string
	rust, bare bool
}

// maxKnown bounds the names that are kept.
const maxKnown = 1 << 12

// Of returns a shorter form of a function's name as it is printed in full. file is the source file,
// "" if it is not known. With bare, the function's own parameters are left out: something stands
// for them behind the name. Names of other languages than C++ and Rust, and names that nothing can
// be left out of, are returned as they are.
func (n *Names) Of(name, file string, bare bool) string {
	if !strings.ContainsAny(name, "<({:[") || strings.HasSuffix(file, ".go") || strings.HasSuffix(file, ".java") {
		return name
	}
	k := key{name, isRust(name, file), bare}
	n.mu.Lock()
	defer n.mu.Unlock()
	if made, ok := n.known[k]; ok {
		return made
	}
	if n.known == nil || len(n.known) >= maxKnown {
		n.known = map[key]string{}
	}
	made := shorten(name, k.rust, bare)
	n.known[k] = made
	return made
}

// isRust reports whether a function is Rust's, by its file or its name.
func isRust(name, file string) bool {
	if file != "" {
		return strings.HasSuffix(file, ".rs")
	}
	return strings.Contains(name, "{closure") || strings.Contains(name, "{impl#") || strings.Contains(name, "{{") ||
		strings.Contains(name, " as ") || strings.HasPrefix(name, "core::") || strings.HasPrefix(name, "alloc::")
}

// shorten returns the shorter form of a name; name itself if that is no longer.
func shorten(name string, rust, bare bool) string {
	list, ok := parse(name)
	if !ok {
		return name
	}
	if rust {
		list = rustPaths(list, 0)
	} else {
		list = withoutResult(list)
		if n := parameters(list); bare && n > 0 {
			list = list[:n]
		}
		list = standard(list)
	}
	made := fitting(list)
	if made == "" || len(made) >= len(name) {
		return name
	}
	return made
}

// parameters returns the index of the function's own list of parameters; -1 if the name has none.
// Behind it there may be " const", "&" and " [clone .cold]".
func parameters(list []token) int {
	for i := len(list) - 1; i > 0; i-- {
		switch t := &list[i]; {
		case t.open == '(':
			if before := &list[i-1]; before.open == 0 && !before.isWord() && !strings.HasPrefix(before.text, "operator") {
				return -1 // (anonymous namespace)
			}
			return i
		case t.open == '[', t.text == " ", t.text == "&", t.text == "const", t.text == "volatile":
		default:
			return -1
		}
	}
	return -1
}

// withoutResult returns a name without the type of the function's result, which symbols of
// templates have: "void f<int>(int)". It is there only if the function's parameters are.
func withoutResult(list []token) []token {
	end := parameters(list)
	for i := 0; i < end; i++ { // "operator new", "operator unsigned long": all that follows is the name
		if strings.HasPrefix(list[i].text, "operator") {
			end = i
		}
	}
	for i := end - 1; i > 0; i-- {
		switch list[i].text {
		case "to", "for": // "virtual thunk to f()"
			return list
		case " ":
			for _, t := range list[:i] {
				if t.text == "to" || t.text == "for" {
					return list
				}
			}
			return list[i+1:]
		}
	}
	return list
}

// inlined are the namespaces of C++'s libraries that a program does not name.
var inlined = matching(`^(__[0-9]+|__cxx11|__cxx1998|__ndk1|__fs|__Cr|_V2)$`)

// standard makes the names of C++'s library short, in a list and in the lists within it.
func standard(list []token) []token {
	made := make([]token, 0, len(list))
	inStd := false // in a path that begins with "std"
	for i := 0; i < len(list); i++ {
		t := list[i]
		switch {
		case t.open == '[' && len(t.items) == 1 && len(t.items[0]) > 0 && t.items[0][0].text == "abi":
			continue // the tag of a version of the library
		case t.open != 0:
			items := make([][]token, len(t.items))
			for k, item := range t.items {
				items[k] = standard(item)
			}
			if t.open == '(' && len(items) == 1 && len(items[0]) == 1 && items[0][0].text == "void" {
				items[0] = nil // "f(void)"
			}
			if n := len(made); t.open == '<' && inStd && n >= 3 && made[n-2].text == "::" && made[n-3].text == "std" {
				if items = withoutDefaults(made[n-1].text, items); len(items) == 1 {
					if alias := aliasOf(made[n-1].text, items[0]); alias != "" {
						made[n-1].text = alias
						continue
					}
				}
			}
			t.items = items
		case t.isWord() && (len(made) == 0 || made[len(made)-1].text != "::"):
			inStd = t.text == "std"
		case inStd && t.isWord() && inlined().MatchString(t.text) && i+1 < len(list) && list[i+1].text == "::":
			i++
			continue
		}
		made = append(made, t)
	}
	return made
}

// defaults are the arguments that the templates of C++'s library have if a program gives none: $0
// and $1 stand for the first two arguments.
var defaults = map[string][]string{
	"vector": {1: "std::allocator<$0>"}, "deque": {1: "std::allocator<$0>"}, "list": {1: "std::allocator<$0>"}, "forward_list": {1: "std::allocator<$0>"},
	"set": {1: "std::less<$0>", 2: "std::allocator<$0>"}, "multiset": {1: "std::less<$0>", 2: "std::allocator<$0>"},
	"map": {2: "std::less<$0>", 3: "std::allocator<std::pair<$0 const, $1>>"}, "multimap": {2: "std::less<$0>", 3: "std::allocator<std::pair<$0 const, $1>>"},
	"unordered_set":      {1: "std::hash<$0>", 2: "std::equal_to<$0>", 3: "std::allocator<$0>"},
	"unordered_multiset": {1: "std::hash<$0>", 2: "std::equal_to<$0>", 3: "std::allocator<$0>"},
	"unordered_map":      {2: "std::hash<$0>", 3: "std::equal_to<$0>", 4: "std::allocator<std::pair<$0 const, $1>>"},
	"unordered_multimap": {2: "std::hash<$0>", 3: "std::equal_to<$0>", 4: "std::allocator<std::pair<$0 const, $1>>"},
	"basic_string":       {1: "std::char_traits<$0>", 2: "std::allocator<$0>"}, "basic_string_view": {1: "std::char_traits<$0>"},
	"unique_ptr": {1: "std::default_delete<$0>"}, "queue": {1: "std::deque<$0>"}, "stack": {1: "std::deque<$0>"},
	"priority_queue": {1: "std::vector<$0>", 2: "std::less<$0>"}, "basic_regex": {1: "std::regex_traits<$0>"},
	"basic_ios": {1: "std::char_traits<$0>"}, "basic_streambuf": {1: "std::char_traits<$0>"},
	"basic_istream": {1: "std::char_traits<$0>"}, "basic_ostream": {1: "std::char_traits<$0>"}, "basic_iostream": {1: "std::char_traits<$0>"},
	"basic_filebuf": {1: "std::char_traits<$0>"}, "basic_ifstream": {1: "std::char_traits<$0>"}, "basic_ofstream": {1: "std::char_traits<$0>"}, "basic_fstream": {1: "std::char_traits<$0>"},
	"basic_stringbuf":     {1: "std::char_traits<$0>", 2: "std::allocator<$0>"},
	"basic_istringstream": {1: "std::char_traits<$0>", 2: "std::allocator<$0>"},
	"basic_ostringstream": {1: "std::char_traits<$0>", 2: "std::allocator<$0>"},
	"basic_stringstream":  {1: "std::char_traits<$0>", 2: "std::allocator<$0>"},
}

// withoutDefaults returns the arguments of a template of C++'s library without the last ones that
// are the template's defaults.
func withoutDefaults(template string, items [][]token) [][]token {
	usual := defaults[template]
	if len(items) > len(usual) || len(usual) == 0 {
		return items
	}
	first, second := textOf(items[0], maxDepth+1), ""
	if len(items) > 1 {
		second = textOf(items[1], maxDepth+1)
	}
	for n := len(items) - 1; n > 0 && usual[n] != ""; n-- {
		want := strings.NewReplacer("$0", first, "$1", second)
		got := textOf(items[n], maxDepth+1)
		if got != want.Replace(usual[n]) && got != want.Replace(strings.Replace(usual[n], "$0 const", "const $0", 1)) {
			break
		}
		items = items[:n]
	}
	return items
}

// aliasOf returns the name that the library itself has for a template of characters, without the
// arguments: "string" for basic_string<char>; "" if it has none.
func aliasOf(template string, of []token) string {
	name, ok := strings.CutPrefix(template, "basic_")
	if !ok || defaults[template] == nil || len(of) != 1 {
		return ""
	}
	switch text := strings.HasPrefix(name, "string") && (name == "string" || name == "string_view"); of[0].text {
	case "char":
		return name
	case "wchar_t":
		return "w" + name
	case "char8_t", "char16_t", "char32_t":
		if text {
			return "u" + strings.TrimSuffix(strings.TrimPrefix(of[0].text, "char"), "_t") + name
		}
	}
	return ""
}

// compiled begins the files of Rust's library, as its makers have compiled it: with the number of a
// change of the compiler.
var compiled = matching(`^/rustc/[0-9a-f]{40}/library/`)

// File returns a shorter form of a source file: library/core/src/result.rs for one of Rust's
// library.
func File(file string) string {
	if strings.HasPrefix(file, "/rustc/") {
		if n := len(compiled().FindString(file)); n > 0 {
			return file[n-len("library/"):]
		}
	}
	return file
}
