package beam

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Erlang", Releases: "OTP 25, 27, 29, and Elixir, compiled (JIT); amd64", Tasks: "processes"}
}
