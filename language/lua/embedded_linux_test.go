package lua_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/internal/test/luatest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/lua"
)

// inFolder starts a program in a folder of its own, which has some files, with what it writes in
// the file log there.
func inFolder(t *testing.T, command string, files map[string]string) (p *gdbtest.Process, folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return gdbtest.StartRunning(t, "/bin/sh", "-c", "cd "+folder+" && echo ready && exec "+command+" >log 2>&1"), folder
}

// TestRedis stops a script that Redis runs, which has Lua 5.1 in its own program.
func TestRedis(t *testing.T) {
	// The program has several names. The package of this one would start a service, too.
	server := filepath.Join(t.TempDir(), "redis-server")
	if err := os.Symlink(gdbtest.Tool(t, "redis-check-rdb"), server); err != nil {
		t.Fatal(err)
	}
	p, folder := inFolder(t, server+` --port 0 --unixsocket socket --save "" --lua-time-limit 0`, nil)
	var c net.Conn
	gdbtest.Await(t, "Redis listens", func() bool {
		var err error
		c, err = net.Dial("unix", filepath.Join(folder, "socket"))
		return err == nil
	})
	defer c.Close()
	script := "local say, debug, plain = function(text) redis.log(redis.LOG_WARNING, text) end\n" + luatest.Embedded + "main()"
	if _, err := fmt.Fprintf(c, "*3\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n0\r\n", len(script), script); err != nil {
		t.Fatal(err)
	}
	luatest.Spins(t, lua.Decorator{}, p, filepath.Join(folder, "log"), false)
	p.Stop(t)
	frames := languagetest.Attach(t, p.PID, lua.Decorator{}, nil)[p.PID].Frames()
	if !slices.ContainsFunc(frames, func(f language.Placed) bool { return f.Function == "table.sort" }) {
		t.Errorf("the names in package.loaded are not known: %+v", frames)
	}
}

// TestHAProxy stops a task of HAProxy's, which is suspended and goes on again and again.
func TestHAProxy(t *testing.T) {
	p, folder := inFolder(t, gdbtest.Tool(t, "haproxy")+" -db -f conf", map[string]string{
		"script.lua": "local say, plain = function(text) io.stderr:write(text, \"\\n\") end, true\n" + luatest.Embedded + "core.register_task(main)",
		"conf":       "global\n  lua-load script.lua\n  nbthread 2\ndefaults\n  timeout client 10s\n  timeout connect 10s\n  timeout server 10s\nfrontend f\n  mode http\n  bind unix@socket\n",
	})
	luatest.Spins(t, lua.Decorator{}, p, filepath.Join(folder, "log"), false)
}
