package sbcl

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Lisp", Releases: "SBCL 2.2.9 to 2.6; amd64"}
}
