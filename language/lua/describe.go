package lua

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Lua", Releases: "5.1 to 5.5; amd64, arm64", Tasks: "coroutines"}
}
