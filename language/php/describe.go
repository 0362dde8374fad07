package php

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "PHP", Releases: "7.4, 8.1 to 8.5; amd64, and arm64 without a test", Tasks: "fibers, generators"}
}
