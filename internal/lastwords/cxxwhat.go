package lastwords

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// message is how a function what() of the standard library comes to its message.
type message struct {
	symbol string
	class  uint64 // the library whose function it is; 0 for both
	text   string // constant; "" if the object has it
	path   bool   // std::filesystem's: the object leads to an object with two paths and the message
}

// messages are the functions what() of the standard library. The messages of std::runtime_error and
// std::logic_error are pointers behind the address of the virtual table.
var messages = []message{
	{symbol: "_ZNKSt13runtime_error4whatEv"},
	{symbol: "_ZNKSt11logic_error4whatEv"},
	{symbol: "_ZNKSt8ios_base7failureB5cxx114whatEv", class: gnuClass},
	{symbol: "_ZNKSt12future_error4whatEv", class: gnuClass},
	{symbol: "_ZNKSt18bad_variant_access4whatEv", class: gnuClass},
	{symbol: "_ZNKSt10filesystem7__cxx1116filesystem_error4whatEv", class: gnuClass, path: true},
	{symbol: "_ZNKSt9exception4whatEv", text: "std::exception"},
	{symbol: "_ZNKSt9bad_alloc4whatEv", text: "std::bad_alloc"},
	{symbol: "_ZNKSt8bad_cast4whatEv", text: "std::bad_cast"},
	{symbol: "_ZNKSt10bad_typeid4whatEv", text: "std::bad_typeid"},
	{symbol: "_ZNKSt13bad_exception4whatEv", text: "std::bad_exception"},
	{symbol: "_ZNKSt20bad_array_new_length4whatEv", class: gnuClass, text: "std::bad_array_new_length"},
	{symbol: "_ZNKSt17bad_function_call4whatEv", class: gnuClass, text: "bad_function_call"},
	{symbol: "_ZNKSt12bad_weak_ptr4whatEv", class: gnuClass, text: "bad_weak_ptr"},
	{symbol: "_ZNKSt19bad_optional_access4whatEv", class: gnuClass, text: "bad optional access"},
	{symbol: "_ZNKSt12bad_any_cast4whatEv", class: gnuClass, text: "bad any_cast"},
}

// what returns what the function what() of an exception returns. The virtual table of its
// std::exception leads to the function: the standard library's own, or the program's, whose few
// instructions are followed.
func (f *finder) what(x *exception) (string, bool) {
	left := mostBases
	at, ok := f.exceptionPart(x.typ, x.object, 0, &left)
	if !ok {
		return "", false
	}
	size := uint64(f.arch.PtrSize)
	table, ok := f.word(at)
	if !ok {
		return "", false
	}
	const slot = 2 // behind two destructors
	function, ok := f.word(table + slot*size)
	if !ok {
		return "", false
	}
	m := f.Target.Modules().Find(function)
	if m == nil {
		return "", false
	}
	im, bias, err := m.PeekImage()
	if err != nil {
		return "", false
	}
	for i := range messages {
		how := &messages[i]
		if how.class != 0 && how.class != x.class || !im.Symbols().Begins(function-bias, how.symbol) {
			continue
		}
		if how.text != "" {
			return how.text, true
		}
		var p uint64
		if how.path {
			// A runtime_error with an error_code (an int, a pointer), and the pointer to the paths,
			// each of which is a string and a pointer.
			const text = 32
			inner, ok := f.word(at + 4*size)
			if !ok || size != 8 {
				return "", false
			}
			p, ok = f.word(inner + 2*(text+size))
			if !ok {
				return "", false
			}
		} else if p, ok = f.word(at + size); !ok {
			return "", false
		}
		return f.text(p)
	}
	p, ok := f.returned(function, at)
	if !ok {
		return "", false
	}
	text, ok := f.text(p)
	return text, ok && printable(text)
}

// printable reports whether a text may be a message of several lines.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r'
	})
}

// thrownValue returns the value of something that was thrown and is no object of a class: a number,
// a text.
func (f *finder) thrownValue(typ string, at uint64) (string, bool) {
	switch typ {
	case "int", "unsigned int":
		v, ok := f.half(at)
		if typ == "int" {
			return strconv.Itoa(int(int32(v))), ok
		}
		return strconv.FormatUint(uint64(v), 10), ok
	case "char const*", "char*":
		p, ok := f.word(at)
		if !ok {
			return "", false
		}
		text, ok := f.text(p)
		return `"` + text + `"`, ok
	case "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string":
		p, ok := f.word(at)
		n, also := f.word(at + uint64(f.arch.PtrSize))
		if !ok || !also {
			return "", false
		}
		data := f.bytes(p, int(min(n, maxText)))
		if data == nil {
			return "", false
		}
		text := string(data)
		if n > maxText {
			text += "…"
		}
		return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`, true
	}
	return "", false
}
