package rust

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Rust", Releases: "tokio 1.24 to 1.54, smol, async-std, futures, by debug information", Tasks: "tasks of tokio, smol and async-std"}
}
