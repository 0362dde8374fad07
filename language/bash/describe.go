package bash

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Bash", Releases: "4.4 to 5.3; amd64"}
}
