package v8

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "JavaScript", Releases: "V8 of Node.js 18 to 26, of Deno 2.0 to 2.9, of Chromium 138, 140, 146 to 150, 152, 153 and 156 and what has these within itself; amd64", Tasks: "async functions and generators"}
}
