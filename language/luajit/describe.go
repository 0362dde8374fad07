package luajit

import "github.com/sfwalk/sfwalk/language"

// Describe implements [language.Described].
func (Decorator) Describe() language.Description {
	return language.Description{Title: "LuaJIT", Releases: "2.1 from 2021 on, OpenResty's too; amd64, and arm64 without a test", Tasks: "coroutines"}
}
