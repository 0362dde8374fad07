package lua_test

import (
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/internal/test/luatest"
	"github.com/sfwalk/sfwalk/language/lua"
)

// TestTasks holds coroutines against what Lua's own functions tell at the same moment.
func TestTasks(t *testing.T) {
	script, err := filepath.Abs("testdata/tasks.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range luas(t) {
		t.Run(filepath.Base(l[0]), func(t *testing.T) {
			luatest.Tasks(t, lua.Decorator{}, func() *languagetest.Told {
				return languagetest.StartTold(t, l[0], script, oracleOf(t, l[1]))
			})
		})
	}
}

// TestCores compares processes with their core files.
func TestCores(t *testing.T) {
	script, err := filepath.Abs("testdata/tasks.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range luas(t) {
		t.Run(filepath.Base(l[0]), func(t *testing.T) {
			luatest.Cores(t, lua.Decorator{}, languagetest.StartTold(t, l[0], script, oracleOf(t, l[1])).Process)
		})
	}
}
