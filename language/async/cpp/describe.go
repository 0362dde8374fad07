package cpp

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "C++", Releases: "C++20 of GCC 12 to 16 and Clang 14 to 21, by debug information; amd64", Tasks: "coroutines"}
}
