package report

import (
	"strings"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/decorators"
)

// LanguageNames returns the languages whose frames are shown: "Python, Java".
func LanguageNames() string {
	var names []string
	for _, d := range language.Descriptions(decorators.Usual()) {
		names = append(names, d.Title)
	}
	return strings.Join(names, ", ")
}

// TaskNames returns what --tasks prints, of each language: "of Python tasks of asyncio; of Java
// virtual threads".
func TaskNames() string {
	var names []string
	for _, d := range language.Descriptions(decorators.Usual()) {
		if d.Tasks != "" {
			names = append(names, "of "+d.Title+" "+d.Tasks)
		}
	}
	return strings.Join(names, "; ")
}
