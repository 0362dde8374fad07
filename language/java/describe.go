package java

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Java", Releases: "HotSpot 8 to 28; amd64, arm64", Tasks: "virtual threads"}
}
