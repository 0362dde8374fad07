package fibers

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Boost.Fiber", Releases: "1.66 to 1.92; amd64", Tasks: "fibers"}
}
