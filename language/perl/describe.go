package perl

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Perl", Releases: "5.28 to 5.42; amd64, arm64"}
}
