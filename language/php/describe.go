package php

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "PHP", Releases: "7.4, 8.2, 8.4; amd64, arm64"}
}
