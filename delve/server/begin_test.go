//go:build linux && (amd64 || arm64)

package server_test

import (
	"bufio"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-delve/delve/service"
	"github.com/go-delve/delve/service/debugger"
	"github.com/google/go-dap"

	"github.com/sfwalk/sfwalk/delve/server"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// begin serves one editor that has yet to say what to debug. end waits until the server has ended
// by itself.
func begin(t *testing.T) (c *dapClient, end func()) {
	t.Helper()
	delvetest.Quiet(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	done := make(chan error, 1)
	go func() {
		done <- server.Serve(ctx, &service.Config{
			Debugger: debugger.Config{Backend: "default", Foreground: true}, Listener: listener, CheckLocalConnUser: true, APIVersion: 2,
		}, nil, server.Options{})
	}()
	conn := dial(t, listener.Addr().String())
	c = &dapClient{t: t, conn: conn, in: bufio.NewReader(conn)}
	ask[dap.InitializeResponse](c, "initialize", map[string]any{"clientID": "test", "pathFormat": "path", "linesStartAt1": true, "columnsStartAt1": true})
	return c, func() {
		t.Helper()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-deadline(t):
			t.Fatal("the server does not end")
		}
	}
}

func deadline(t *testing.T) <-chan struct{} {
	ctx, cancel := context.WithDeadline(context.Background(), gdbtest.Deadline(t))
	t.Cleanup(cancel)
	return ctx.Done()
}

// An editor attaches to a process, and sees whole stacks; the process runs on when it goes.
func TestDAPAttaches(t *testing.T) {
	p := startCgo(t)
	c, end := begin(t)
	for _, command := range []string{"stackTrace", "scopes", "evaluate"} {
		if got := refused(c, command, map[string]any{}); !strings.Contains(got, "launch or attach") {
			t.Errorf("%s: %s", command, got)
		}
	}
	if got := refused(c, "attach", map[string]any{"mode": "local", "processId": 999999999}); !strings.Contains(got, "999999999") {
		t.Error(got)
	}
	ask[dap.AttachResponse](c, "attach", map[string]any{"mode": "local", "processId": p.PID, "stopOnEntry": true})
	ask[dap.ConfigurationDoneResponse](c, "configurationDone", nil)
	c.checkChains()
	ask[dap.DisconnectResponse](c, "disconnect", dap.DisconnectArguments{})
	c.event("terminated")
	end()
	checkRuns(t, p)
}

// smallModule writes a module, with a test, and returns its folder.
func smallModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.com/small\n\ngo 1.24\n",
		"main.go":      "package main\n\nfunc twice(n int) int { return 2 * n }\n\nfunc main() { println(twice(21)) }\n",
		"main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestTwice(t *testing.T) {\n\tif twice(2) != 4 {\n\t\tt.Error()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// An editor has a package, or its tests, built and started. When it goes, the program ends, and its
// file is removed.
func TestDAPLaunches(t *testing.T) {
	dir := smallModule(t)
	t.Chdir(dir)
	for mode, caller := range map[string]string{"debug": ".main", "test": ".TestTwice"} {
		c, end := begin(t)
		ask[dap.LaunchResponse](c, "launch", map[string]any{"mode": mode, "program": dir, "stackTraceDepth": 10})
		ask[dap.SetFunctionBreakpointsResponse](c, "setFunctionBreakpoints", dap.SetFunctionBreakpointsArguments{Breakpoints: []dap.FunctionBreakpoint{{Name: "main.twice"}}})
		ask[dap.ConfigurationDoneResponse](c, "configurationDone", nil)
		c.event("stopped")
		stack := c.stackTrace(1, 0, 10)
		if mode == "test" { // the test is on a goroutine of its own
			for _, th := range ask[dap.ThreadsResponse](c, "threads", nil).Body.Threads {
				if body := c.stackTrace(th.Id, 0, 10); len(body.StackFrames) > 0 && strings.HasSuffix(body.StackFrames[0].Name, ".twice") {
					stack = body
				}
			}
		}
		if f := stack.StackFrames; len(f) < 3 || !strings.HasSuffix(f[0].Name, ".twice") || !strings.HasSuffix(f[1].Name, caller) {
			t.Errorf("%s: %+v", mode, f)
		}
		ask[dap.DisconnectResponse](c, "disconnect", dap.DisconnectArguments{})
		end()
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 3 {
			t.Errorf("%s leaves %v, %v", mode, files, err)
		}
	}
}

// What cannot be built is said, and the editor may try once more. Without debugging, the program
// just runs.
func TestDAPLaunchFails(t *testing.T) {
	dir := smallModule(t)
	t.Chdir(dir)
	c, end := begin(t)
	if got := refused(c, "launch", map[string]any{"mode": "debug", "program": dir + "/nothing"}); !strings.Contains(got, "Build error") {
		t.Error(got)
	}
	ask[dap.LaunchResponse](c, "launch", map[string]any{"mode": "debug", "program": dir, "noDebug": true, "outputMode": "remote"})
	c.event("terminated")
	c.conn.Close()
	end()
	if files, err := os.ReadDir(dir); err != nil || len(files) != 3 {
		t.Errorf("left are %v, %v", files, err)
	}
}

// A client of JSON-RPC has nothing to debug, and is sent away.
func TestRPCBeginsNothing(t *testing.T) {
	delvetest.Quiet(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- server.Serve(t.Context(), &service.Config{Listener: listener, APIVersion: 2}, nil, server.Options{})
	}()
	conn := dial(t, listener.Addr().String())
	if _, err := conn.Write([]byte(`{"method":"RPCServer.State","params":[{}],"id":1}`)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes of an answer", n)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
