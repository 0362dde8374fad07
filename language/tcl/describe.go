package tcl

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Tcl", Releases: "8.6, 9.0; 64-bit"}
}
