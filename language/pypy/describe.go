package pypy

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "PyPy", Releases: "7.3, 8.0 (Python 3); amd64"}
}
