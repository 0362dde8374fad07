package r

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "R", Releases: "4.2, 4.5, 4.6; amd64"}
}
