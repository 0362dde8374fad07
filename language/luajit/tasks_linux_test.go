package luajit_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/internal/test/luatest"
	"github.com/sfwalk/sfwalk/language/luajit"
)

// TestTasks holds coroutines against what Lua's own functions tell at the same moment, of a program
// that is interpreted, and of one that runs in traces.
func TestTasks(t *testing.T) {
	interpreter := gdbtest.Tool(t, "luajit")
	oracle, script := oracleOf(t), absolute(t, "../lua/testdata/tasks.lua")
	for _, compiler := range []string{"-joff", "-jon"} {
		t.Run(compiler, func(t *testing.T) {
			luatest.Tasks(t, luajit.Decorator{}, func() *languagetest.Told {
				return languagetest.StartTold(t, interpreter, compiler, script, oracle)
			})
		})
	}
}

// TestCores compares a process with its core files.
func TestCores(t *testing.T) {
	interpreter := gdbtest.Tool(t, "luajit")
	p := languagetest.StartTold(t, interpreter, absolute(t, "../lua/testdata/tasks.lua"), oracleOf(t))
	luatest.Cores(t, luajit.Decorator{}, p.Process)
}
