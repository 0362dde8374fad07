package luajit_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/luatest"
	"github.com/sfwalk/sfwalk/language/luajit"
)

// TestNeovim stops a script that Neovim runs: luv calls it from libuv's loop, within another script
// that waits.
func TestNeovim(t *testing.T) {
	folder := t.TempDir()
	script := "local say, plain = function(text) io.stderr:write(text, \"\\n\") end\n" + luatest.Embedded + `
local timer = vim.loop.new_timer()
timer:start(0, 0, main)
vim.wait(1000000000)
`
	if err := os.WriteFile(filepath.Join(folder, "script.lua"), []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	command := gdbtest.Tool(t, "nvim") + " --headless --clean -n -i NONE -u NONE -c 'luafile script.lua' >log 2>&1"
	p := gdbtest.StartRunning(t, "/bin/sh", "-c", "cd "+folder+" && echo ready && exec "+command)
	luatest.Spins(t, luajit.Decorator{}, p, filepath.Join(folder, "log"), false)
}

// TestNginx stops a script that answers a request in nginx. That is in .cache/nginx with its module
// for Lua: 'make rest' puts it there (testdata/fetch.sh). The module resumes scripts' coroutines.
func TestNginx(t *testing.T) {
	gdbtest.Later(t, "luajit")
	cache := gdbtest.Testdata(t, "..", ".cache", "nginx")
	of, err := os.ReadFile(cache + "/os-release")
	here, _ := os.ReadFile("/etc/os-release") // a system without it has no such packages
	if err != nil || !bytes.Equal(of, here) {
		gdbtest.Cannot(t, "no nginx with Lua of this release could be fetched")
	}
	root := cache + "/usr"
	folder := t.TempDir()
	for name, text := range map[string]string{
		"script.lua": "local say, plain = function(text) ngx.log(ngx.ERR, text, \"\\n\") end\n" + luatest.Embedded + "main()",
		"conf": strings.NewReplacer("ROOT", root, "FOLDER", folder).Replace(`daemon off; master_process off; pid pid; error_log log;
load_module ROOT/lib/nginx/modules/ndk_http_module.so;
load_module ROOT/lib/nginx/modules/ngx_http_lua_module.so;
events {}
http {
	access_log off; client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;
	lua_package_path "ROOT/share/lua/5.1/?.lua;;";
	server { listen unix:FOLDER/socket; location / { content_by_lua_file FOLDER/script.lua; } }
}
`),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	libraries := gdbtest.Glob(t, root+"/lib/*-linux-gnu*")
	t.Setenv("LD_LIBRARY_PATH", strings.Join(libraries, ":"))
	nginx := root + "/sbin/nginx -p " + folder + " -c conf"
	if out, err := exec.Command("/bin/sh", "-c", nginx+" -t").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := gdbtest.StartRunning(t, "/bin/sh", "-c", "cd "+folder+" && echo ready && exec "+nginx+" >out 2>&1")
	var c net.Conn
	gdbtest.Await(t, "nginx listens", func() bool {
		var err error
		c, err = net.Dial("unix", filepath.Join(folder, "socket"))
		return err == nil
	})
	defer c.Close()
	if _, err := c.Write([]byte("GET / HTTP/1.0\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	luatest.Spins(t, luajit.Decorator{}, p, filepath.Join(folder, "log"), true)
}
