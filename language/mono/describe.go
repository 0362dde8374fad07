package mono

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Mono", Releases: "6.8, 6.12, 6.14: compiled code, before or at run time; amd64"}
}
