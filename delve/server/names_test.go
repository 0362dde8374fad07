//go:build linux && (amd64 || arm64)

package server_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-delve/delve/service/rpc2"

	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Names that Delve has read reach clients with control characters escaped, like names that the
// engine has read.
func TestHostileNames(t *testing.T) {
	const old, hostile, want = "main.recurse", "main.r\x1b[2J\nx", `main.r\x1b[2J\nx`
	program, err := os.ReadFile(delvetest.Go(t, "amd64", "-ldflags=-compressdwarf=false"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, bytes.ReplaceAll(program, []byte(old), []byte(hostile)), 0o700); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, path, "quiet")
	s := attach(t, p, false)
	client := rpc2.NewClientFromConn(dial(t, s.addr))
	said := func(what, name string, seen map[string]bool) {
		if strings.ContainsAny(name, "\x1b\n") {
			t.Errorf("%s: %q", what, name)
		}
		if name == want {
			seen[what] = true
		}
	}
	seen := map[string]bool{}
	functions, err := client.ListFunctions("main", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range functions {
		said("functions", name, seen)
	}
	goroutines, _, err := client.ListGoroutines(0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range goroutines {
		said("goroutines", g.UserCurrentLoc.Function.Name(), seen)
		if seen["frames"] {
			continue
		}
		frames, err := client.Stacktrace(g.ID, 8, 0, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			said("frames", f.Function.Name(), seen)
		}
	}
	if !seen["functions"] || !seen["frames"] {
		t.Errorf("seen: %v", seen)
	}
	client.Disconnect(false)
}
