package python

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Python", Releases: "CPython 3.8 to 3.15", Tasks: "tasks of asyncio and trio, greenlets"}
}
