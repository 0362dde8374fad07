//go:build linux

package gdbtest

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gdbLimit bounds one run of gdb: it reads the debug information of libc, too.
const gdbLimit = 4 * time.Minute

//go:embed frames.py
var framesPy string

// runGDB runs gdb in batch mode, with args and then a Python script that finds
// params in PARAMS and writes records by emit(), the last one {"end": true}.
// It returns the records before that one.
func runGDB(t testing.TB, script string, params map[string]any, args ...string) []json.RawMessage {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "out.json")
	params["out"] = out
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	literal, err := json.Marshal(string(text)) // a JSON string is one of Python's, too
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "script.py")
	script = fmt.Sprintf("import json\nPARAMS = json.loads(%s)\n%s\n%s", literal, framesPy, script)
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), gdbLimit)
	defer cancel()
	argv := []string{"-nx", "-batch",
		// No network, and no scripts that come with a program (Go's, libstdc++'s).
		"-iex", "set debuginfod enabled off",
		"-iex", "set auto-load off",
		"-iex", "set backtrace past-main on",
		"-iex", "set backtrace past-entry on",
		"-iex", "set backtrace limit unlimited",
		"-x", file,
	}
	cmd := exec.CommandContext(ctx, Tool(t, "gdb"), append(argv, args...)...)
	cmd.Env = append(os.Environ(), "SHELL=/bin/sh") // gdb starts programs by it
	stdout, stderr, err := command(cmd)
	failed := func(why error) {
		t.Helper()
		if strings.Contains(stderr, "Python scripting is not supported") {
			missing(t, "gdb is built without Python")
		}
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(cmd.Args, " "), why, stdout, stderr)
	}
	if err != nil {
		failed(err)
	}
	f, err := os.Open(out)
	if err != nil {
		failed(err)
	}
	defer f.Close()
	var records []json.RawMessage
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			failed(fmt.Errorf("the script did not come to its end after %d records", len(records)))
		}
		var last struct{ End bool }
		if err := json.Unmarshal(line, &last); err != nil {
			failed(err)
		}
		if last.End {
			return records
		}
		records = append(records, line)
	}
}
