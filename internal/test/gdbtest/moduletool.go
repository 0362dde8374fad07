//go:build linux

package gdbtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var moduleTools sync.Map // the path of each tool, by its name

// ModuleTool returns the path of a tool that tools/go.mod names, such as dlv. Go builds it.
func ModuleTool(t testing.TB, name string) string {
	t.Helper()
	if path, ok := moduleTools.Load(name); ok {
		return path.(string)
	}
	root := filepath.Dir(Testdata(t))
	cmd := exec.Command(Tool(t, "go"), "tool", "-modfile="+filepath.Join(root, "tools", "go.mod"), "-n", name)
	cmd.Dir = root
	path, said, err := command(cmd)
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, said)
	}
	path = strings.TrimSpace(path)
	moduleTools.Store(name, path)
	return path
}
