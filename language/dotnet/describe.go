package dotnet

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: ".NET", Releases: "CoreCLR 8, 9, 10; amd64", Tasks: "async methods"}
}
