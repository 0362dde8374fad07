package racket

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Racket, Chez Scheme", Releases: "Racket CS 8.7 to 8.18, Chez Scheme 9.5.8 to 10.4; amd64", Tasks: "Racket's threads"}
}
