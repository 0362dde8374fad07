//go:build amd64 || arm64

package dlv

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The script of docs/editors.md is started as the extension of VS Code starts dlv, and serves the
// page's configurations.
func TestEditors(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "editors.md"))
	if err != nil {
		t.Fatal(err)
	}
	script := ""
	var configurations []map[string]any
	for _, m := range regexp.MustCompile("(?ms)^```(json|sh) (\\S+)\n(.*?)^```").FindAllStringSubmatch(string(page), -1) {
		if m[1] == "sh" {
			script = m[3]
			continue
		}
		var file struct{ Configurations []map[string]any }
		if err := json.Unmarshal([]byte(m[3]), &file); err != nil {
			t.Errorf("%s: %v", m[2], err)
		}
		configurations = append(configurations, file.Configurations...)
	}
	if len(configurations) != 4 || script == "" {
		t.Fatalf("the page has %d configurations, and the script %q", len(configurations), script)
	}
	dir := t.TempDir()
	dlv := filepath.Join(dir, "dlv-sfwalk")
	for path, text := range map[string]string{
		dlv:                             script,
		filepath.Join(dir, "go.mod"):    "module example.com/small\n\ngo 1.24\n",
		filepath.Join(dir, "a.go"):      "package main\n\nfunc main() { select {} }\n",
		filepath.Join(dir, "a_test.go"): "package main\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	chain := gdbtest.Start(t, gdbtest.Build(t, "chain.c"))
	programs := commandtest.Install(t, "sfwalk", "sfwalk-full")
	for _, c := range configurations {
		if c["mode"] == "remote" {
			continue // TestDlvAttach starts such a server
		}
		if _, ok := c["program"]; ok {
			c["program"] = dir
		}
		if _, ok := c["processId"]; ok {
			c["processId"] = chain.PID
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(dlv, "dap", "--check-go-version=false", "--listen=127.0.0.1:0", "--log-dest=3")
		cmd.Dir, cmd.ExtraFiles, cmd.Env = dir, []*os.File{w}, append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		r.SetReadDeadline(gdbtest.Deadline(t))
		line, err := bufio.NewReader(r).ReadString('\n')
		addr, ok := strings.CutPrefix(strings.TrimSpace(line), "DAP server listening at: ")
		if !ok {
			t.Fatalf("%q, %v", line, err)
		}
		if err := begin(t, addr, c); err != nil {
			t.Errorf("%v: %v", c["name"], err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", c["name"], err)
		}
		r.Close()
		if files, err := os.ReadDir(dir); err != nil || len(files) != 4 {
			t.Errorf("%v leaves %v, %v", c["name"], files, err)
		}
	}
	gdbtest.Await(t, "the process to be let go", func() bool { return !traced(t, chain.PID) })
}

// begin begins a session with a configuration, until the debugging has begun, and ends it.
func begin(t *testing.T, addr string, configuration map[string]any) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(gdbtest.Deadline(t))
	in := bufio.NewReader(conn)
	for i, request := range []map[string]any{
		{"command": "initialize", "arguments": map[string]any{"adapterID": "go"}},
		{"command": configuration["request"], "arguments": configuration},
		{"command": "disconnect"},
	} {
		request["seq"], request["type"] = i+1, "request"
		text, err := json.Marshal(request)
		if err != nil {
			return err
		}
		fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(text), text)
		for {
			var n int
			if _, err := fmt.Fscanf(in, "Content-Length: %d\r\n\r\n", &n); err != nil {
				return fmt.Errorf("%s: %w", request["command"], err)
			}
			reply := make([]byte, n)
			for read := 0; read < n; {
				k, err := in.Read(reply[read:])
				if err != nil {
					return fmt.Errorf("%s: %w", request["command"], err)
				}
				read += k
			}
			var m struct {
				Type    string
				Success bool
				Request int `json:"request_seq"`
			}
			if json.Unmarshal(reply, &m); m.Type == "response" && m.Request == i+1 {
				if !m.Success {
					return fmt.Errorf("%s: %s", request["command"], reply)
				}
				break
			}
		}
	}
	return nil
}
