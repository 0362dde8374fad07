package ruby

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Ruby", Releases: "CRuby 3.1 to 3.4, 4.0; amd64", Tasks: "fibers, Ractors"}
}
