package short

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// Kind says whose code a frame is.
type Kind uint8

const (
	Program Kind = iota // the program's own, or code of which nothing is known
	Library             // the standard library's of C++ or Rust, and surely nothing else
	Begins              // the library's, and it begins the program or a thread
	Starts              // what calls the library first in a thread, or in the program
	Between             // the C library's: called by the library, it calls the library once more
)

// KindOf returns whose code the frame of a function is. file is the source file and module the file
// of the code, each "" if it is not known.
//
// A compiler inlines a program's code into instances of the library's templates. Only debug
// information tells it apart. So without it, a frame is the library's if it is in the library's own
// file, or if its name mentions no type that may be the program's.
func KindOf(function, file, module string) Kind {
	switch function {
	case "start_thread", "clone", "clone3", "__clone", "__clone3", "__libc_start_call_main", "__libc_start_main", "__libc_start_main_impl", "_start":
		return Starts
	case "__pthread_once_slow", "__pthread_once", "___pthread_once", "pthread_once":
		return Between
	case "execute_native_thread_routine":
		return Begins
	case "__rust_try", "rust_begin_unwind", "rust_panic", "__rust_start_panic":
		return Library
	}
	if file != "" {
		if strings.IndexByte(file, '\\') >= 0 {
			file = strings.ReplaceAll(file, `\`, "/")
		}
		if strings.HasSuffix(file, ".rs") {
			switch {
			case !strings.Contains(file, "library/") && !strings.HasPrefix(file, "/rust/deps/") || !rustFile().MatchString(file):
				return Program
			case strings.HasPrefix(function, "std::rt::lang_start"): // the compiler has made what calls it
				return Begins
			}
			return Library
		}
		if reserved(function) && cxxFile().MatchString(file) {
			return Library
		}
		return Program
	}
	if libraryModule().MatchString(path.Base(module)) || ownNames(function) {
		return Library
	}
	return Program
}

var (
	// cxxFile are headers and sources of libstdc++, libc++ and Microsoft's library.
	cxxFile = matching(`(?i)/c\+\+/(v1|\d[\d.]*)/|/libstdc\+\+-v3/|/libcxx(abi)?/|/msvc/[\d.]+/include/`)
	// rustFile are sources of Rust's library and of what is linked into it.
	rustFile = matching(`^(/rustc/[0-9a-f]{40}/|.*/lib/rustlib/src/rust/)?library/(core|alloc|std|panic_unwind|panic_abort|proc_macro|test|backtrace|unwind|stdarch|portable-simd|compiler-builtins)/|^/rust/deps/`)
	// libraryModule are the files of the libraries' code.
	libraryModule = matching(`^(libstdc\+\+|libc\+\+|libc\+\+abi|libgcc_s|libsupc\+\+)(-\d+)?\.(so|dll)|^libstd-[0-9a-f]{16}\.so$|(?i)^msvcp\d+\w*\.dll$`)
)

// reserved reports whether a function whose code is in the library's files may be the library's: a
// folder of a program may be called alike.
func reserved(function string) bool {
	for _, begin := range []string{"std::", "__", "_", "operator"} {
		if strings.HasPrefix(function, begin) {
			return true
		}
	}
	return strings.HasPrefix(function, "void std::") || strings.HasPrefix(function, "bool std::")
}

// ownNames reports whether a symbol of C++ is a function of the library, and all types that it
// mentions are the library's or the language's.
func ownNames(function string) bool {
	if !strings.Contains(function, "std::") && !strings.HasPrefix(function, "__gnu_cxx::") || !strings.Contains(function, "(") || strings.ContainsAny(function, "{#") {
		return false
	}
	list, ok := parse(function)
	if !ok || len(list) == 0 {
		return false
	}
	name := withoutResult(list)
	return (name[0].text == "std" || name[0].text == "__gnu_cxx") && onlyLibrary(list, false)
}

// onlyLibrary reports whether every path in a list begins with a namespace of the library, and
// every word alone is one of the language. Arguments of templates (args) may be no functions: a
// compiler can inline one that it knows.
func onlyLibrary(list []token, args bool) bool {
	known := false // the path that is being read is the library's
	for i := range list {
		t := &list[i]
		if t.open == '[' {
			continue // "[clone .cold]", "[abi:cxx11]"
		}
		if t.open == '(' && args {
			return false
		}
		for _, item := range t.items {
			if !onlyLibrary(item, args || t.open == '<') {
				return false
			}
		}
		if !t.isWord() || known && i > 0 && list[i-1].text == "::" {
			continue
		}
		known = t.text == "std" || t.text == "__gnu_cxx" || t.text == "__cxxabiv1"
		if !known && !languageWord().MatchString(t.text) {
			return false
		}
	}
	return true
}

// matching compiles an expression when it is first asked for, not at the start of each program.
func matching(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var languageWord = matching(`^(\d\w*|void|bool|char|wchar_t|char8_t|char16_t|char32_t|short|int|long|signed|unsigned|float|double|const|volatile|auto|decltype|true|false|__int128|typename|noexcept|operator.*)$`)

// Hides reports whether a frame of the kind inner is hidden if the frame of the kind caller has
// called it. What the program calls stays, and so does what is not the library's; what the library
// calls of its own does not, nor what it does to begin a thread or the program. after says that the
// frame which this one has called is hidden.
func Hides(inner, caller Kind, after bool) bool {
	switch inner {
	case Begins:
		return true
	case Library:
		return caller != Program
	case Between:
		return after && caller == Library
	}
	return false
}
