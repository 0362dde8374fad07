package beam

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "Erlang", Releases: "OTP 25, 27, 28, 29, and Elixir, compiled (JIT) and interpreted; amd64", Tasks: "processes"}
}
