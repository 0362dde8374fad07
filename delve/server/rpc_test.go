//go:build linux && (amd64 || arm64)

package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/debugger"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/delve/server"
	engine "github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

// dial connects to a server.
func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(gdbtest.Deadline(t))
	return conn
}

// Whatever a client sends, other clients are served, and the process is not harmed.
func TestBadClients(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64"), "quiet")
	s := attach(t, p, true)
	check := func(after string) {
		t.Helper()
		client := rpc2.NewClientFromConn(dial(t, s.addr))
		stack, err := client.Stacktrace(1, 10, 0, 0, nil)
		if err != nil || len(stack) < 2 {
			t.Errorf("after %s: %v, %v", after, stack, err)
		}
		client.Disconnect(false)
	}
	check("nothing")
	before := runtime.NumGoroutine() // one of them may be about to end
	for name, sent := range map[string]string{
		"nothing":            "",
		"no JSON":            "GET / HTTP/1.1\r\n\r\n",
		"half a request":     `{"method": "RPCServer.Stacktr`,
		"an array":           `[1, 2, 3]`,
		"deep nesting":       `{"method": "RPCServer.State", "params": ` + strings.Repeat("[", 1<<20),
		"no end":             `{"method": "` + strings.Repeat("x", 17<<20),
		"a header":           "Content-Length: 5\r\n\r\nhello",
		"a long header":      "Content-Length: " + strings.Repeat("1", 17<<20),
		"a negative length":  "Content-Length: -5\r\n\r\n",
		"a large length":     "Content-Length: 99999999999\r\n\r\n{}",
		"a length, no more":  "Content-Length: 4000000\r\n\r\n{",
		"DAP, half attached": dapMessage(`{"seq":1,"type":"request","command":"initialize","arguments":{"pathFormat":"path","linesStartAt1":true,"columnsStartAt1":true}}`) + dapMessage(`{"seq":2,"type":"request","command":"attach","arguments":{"mode":"remote"}}`),
		"DAP, mad numbers":   dapMessage(`{"seq":-1,"type":"request","command":"stackTrace","arguments":{"threadId":1,"startFrame":9223372036854775807,"levels":9223372036854775807}}`) + dapMessage(`{"seq":-1,"type":"request","command":"scopes","arguments":{"frameId":9223372036854775807}}`),
		"DAP, no arguments":  dapMessage(`{"seq":1,"type":"request","command":"stackTrace"}`) + dapMessage(`{"seq":1,"type":"request","command":"variables","arguments":null}`) + dapMessage(`{"seq":1,"type":"request","command":"evaluate","arguments":7}`),
		"DAP, no requests":   dapMessage(`7`) + dapMessage(`{"type":"response","request_seq":1,"command":"stackTrace"}`) + dapMessage(`{"seq":1,"type":"event","event":"stopped"}`),
	} {
		conn := dial(t, s.addr)
		io.WriteString(conn, sent) // the server may cut the connection
		conn.(*net.TCPConn).CloseWrite()
		if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %v", name, err)
		}
		conn.Close()
		check(name)
	}
	gdbtest.Await(t, "there are no more goroutines than before", func() bool { return runtime.NumGoroutine() <= before })
	if err := s.end(); err != nil {
		t.Error(err)
	}
	checkRuns(t, p)
}

func dapMessage(s string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s) }

// checkRuns checks that a process is neither traced nor stopped.
func checkRuns(t testing.TB, p *gdbtest.Process) {
	t.Helper()
	gdbtest.Await(t, "nobody traces the process, and it runs", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
		return err == nil && strings.Contains(string(status), "\nTracerPid:\t0\n") && !strings.ContainsAny(p.States(t), "tTZX")
	})
}

// Wrong requests get answers, and so do those after them.
func TestBadRequests(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64"), "quiet")
	conn := dial(t, attach(t, p, false).addr)
	lines := bufio.NewReader(conn)
	for i, tt := range []struct{ method, params, want string }{
		{"RPCServer.Nonsense", `[{}]`, "unknown method"},
		{"RPCServer.serve", `[{}]`, "unknown method"},
		{"Stacktrace", `[{}]`, "unknown method"},
		{"RPCServer.Stacktrace", `[{"Id": "one"}]`, "malformed request body"},
		// Without arguments, Stacktrace asks for goroutine 0, which is unknown only while a
		// goroutine is selected. After an attach, it is chance whether one is.
		{"RPCServer.Command", `[{"name": "switchGoroutine", "goroutineID": 1}]`, ""},
		{"RPCServer.Stacktrace", `[]`, "unknown goroutine 0"},
		{"RPCServer.Stacktrace", `[{"Id": 1, "Depth": -2}]`, "negative maximum stack depth"},
		{"RPCServer.Stacktrace", `[{"Id": 123456789, "Depth": 5}]`, "unknown goroutine"},
		{"RPCServer.Stacktrace", `[{"Id": 1, "Depth": 9223372036854775807, "Skip": -5}]`, ""},
		{"RPCServer.Stacktrace", `[{"Id": 1, "Depth": 5, "Skip": 9223372036854775807}]`, ""},
		{"RPCServer.Eval", `[{"Scope": {"GoroutineID": 1, "Frame": -1}, "Expr": "1"}]`, "frame -1 does not exist"},
		{"RPCServer.Eval", `[{"Scope": {"GoroutineID": 1, "Frame": 9223372036854775807}, "Expr": "1"}]`, "does not exist"},
		{"RPCServer.Eval", `[{"Scope": {"GoroutineID": 1, "Frame": 1}, "Expr": "((("}]`, "expected"},
		{"RPCServer.Set", `[{"Scope": {"GoroutineID": 1, "Frame": 1}, "Symbol": "nothing", "Value": "1"}]`, "nothing"},
		{"RPCServer.ListLocalVars", `[{"Scope": {"GoroutineID": 1, "Frame": 100000}}]`, "does not exist"},
		{"RPCServer.ListRegisters", `[{"Scope": {"GoroutineID": 1, "Frame": 100000}}]`, "does not exist"},
		{"RPCServer.FindLocation", `[{"Scope": {"GoroutineID": 1, "Frame": 1}, "Loc": "::::"}]`, "ocation"},
		{"RPCServer.CreateWatchpoint", `[{"Scope": {"GoroutineID": 1, "Frame": 100000}, "Expr": "x", "Type": 1}]`, "does not exist"},
		{"RPCServer.Restart", `[{}]`, "cannot restart process Delve did not create"},
		{"RPCServer.SetApiVersion", `[{"APIVersion": 1}]`, "unknown API version"},
		{"RPCServer.GetVersion", `[{}]`, ""},
		{"RPCServer.State", `[{"NonBlocking": true}]`, ""},
	} {
		fmt.Fprintf(conn, `{"method": %q, "params": %s, "id": %d}`+"\n", tt.method, tt.params, i)
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("%s %s: %v", tt.method, tt.params, err)
		}
		var reply struct {
			ID     int
			Error  string
			Result json.RawMessage
		}
		json.Unmarshal(line, &reply)
		if reply.ID != i || (tt.want == "") != (reply.Error == "") || !strings.Contains(reply.Error, tt.want) || strings.Contains(reply.Error, "internal debugger error") {
			t.Errorf("%s %s: %.300s, want error %q", tt.method, tt.params, line, tt.want)
		}
	}
}

// While the process runs, a client that asks for a stack gets an error. Another client that let it
// run halts it. A client that goes meanwhile does no harm.
func TestRunning(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64"), "quiet")
	s := attach(t, p, true)
	one, two := rpc2.NewClientFromConn(dial(t, s.addr)), rpc2.NewClientFromConn(dial(t, s.addr))
	states := one.Continue()
	gdbtest.Await(t, "the process runs", s.dbg.IsRunning)
	if _, err := two.Stacktrace(1, 10, 0, 0, nil); err == nil || !strings.Contains(err.Error(), "the process is running: halt it first") {
		t.Errorf("while it runs: %v", err)
	}
	if state, err := two.GetStateNonBlocking(); err != nil || !state.Running {
		t.Errorf("while it runs: %v, %v", state, err)
	}
	if _, err := two.Halt(); err != nil {
		t.Error(err)
	}
	if state := <-states; state == nil || state.Err != nil {
		t.Errorf("halted: %v", state)
	}
	for _, client := range []*rpc2.RPCClient{one, two} {
		if stack, err := client.Stacktrace(1, 10, 0, 0, nil); err != nil || len(stack) < 2 {
			t.Errorf("halted: %v, %v", stack, err)
		}
	}

	// A client goes while it lets the process run.
	conn := dial(t, s.addr)
	fmt.Fprintf(conn, `{"method": "RPCServer.Command", "params": [{"name": "continue"}], "id": 1}`)
	gdbtest.Await(t, "the process runs", s.dbg.IsRunning)
	conn.Close()
	if _, err := two.Halt(); err != nil {
		t.Error(err)
	}
	if stack, err := two.Stacktrace(1, 10, 0, 0, nil); err != nil || len(stack) < 2 {
		t.Errorf("halted: %v, %v", stack, err)
	}

	// The server ends while the process runs.
	two.Disconnect(true)
	gdbtest.Await(t, "the process runs", s.dbg.IsRunning)
	if err := s.end(); err != nil {
		t.Error(err)
	}
	checkRuns(t, p)
}

// A process that the server has started ends with the server, and starts again if a client asks.
// Prepare is called for each process, and sniffers are told each time that it has run.
func TestRestart(t *testing.T) {
	path := delvetest.Go(t, "amd64")
	var list []*keeper
	s := serveWith(t, server.Options{
		Prepare: func(to *delve.Target) func() {
			k := &keeper{pid: to.Proc.Pid()}
			list = append(list, k)
			to.Table.Prepend(k)
			return func() { k.released = true }
		},
	}, debugger.Config{}, false, path, "quiet")
	client := rpc2.NewClientFromConn(dial(t, s.addr))
	for range 2 {
		if _, err := client.CreateBreakpoint(&api.Breakpoint{FunctionName: "main.main"}); err != nil && !strings.Contains(err.Error(), "exists") {
			t.Fatal(err)
		}
		if state := <-client.Continue(); state.Err != nil || state.CurrentThread.Function.Name() != "main.main" {
			t.Fatalf("%+v", state)
		}
		stack, err := client.Stacktrace(-1, 10, 0, 0, nil)
		if err != nil || len(stack) != 3 || stack[0].Function.Name() != "main.main" || stack[1].Function.Name() != "runtime.main" || !stack[2].Bottom {
			t.Errorf("%v, %v", stack, err)
		}
		k := list[len(list)-1]
		if k.pid != client.ProcessPid() || k.asked == 0 || k.released {
			t.Errorf("process %d: %+v", client.ProcessPid(), k)
		}
		// A request that only looks forgets nothing, though the request before may just be over. A
		// step does.
		forgotten := k.forgotten
		for i := 0; i == 0 || k.forgotten != forgotten; i++ {
			if i == 5 {
				t.Fatalf("looking forgets: %d times", k.forgotten)
			}
			forgotten = k.forgotten
			client.Stacktrace(-1, 10, 0, 0, nil)
		}
		if _, err := client.StepInstruction(false); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Stacktrace(-1, 10, 0, 0, nil); err != nil || k.forgotten == forgotten {
			t.Errorf("forgot %d times, %d before: %v", k.forgotten, forgotten, err)
		}
		if _, err := client.Restart(false); err != nil {
			t.Fatal(err)
		}
	}
	if len(list) != 2 {
		t.Errorf("%d processes", len(list))
	}
	pid := client.ProcessPid()
	if err := client.Detach(true); err != nil {
		t.Error(err)
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
	for _, k := range list {
		if !k.released {
			t.Errorf("process %d is not released", k.pid)
		}
	}
	if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(state), ") Z ") {
		t.Errorf("it is there: %s", state)
	}
}

// keeper is a sniffer that counts its calls.
type keeper struct {
	pid, asked, forgotten int
	released              bool
}

func (k *keeper) Name() string { return "keeper" }
func (k *keeper) Forget()      { k.forgotten++ }
func (k *keeper) Sniff(*engine.Query) (trad.Row, engine.Answer) {
	k.asked++
	return trad.Row{}, "it only counts"
}

// Another user of this machine gets no answer.
func TestOtherUser(t *testing.T) {
	gdbtest.NeedRoot(t)
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64"), "quiet")
	s := attach(t, p, true)
	host, port, _ := net.SplitHostPort(s.addr)
	for _, uid := range []uint32{0, 65534} {
		cmd := exec.Command(gdbtest.Tool(t, "bash"), "-c", `exec 3<>/dev/tcp/$0/$1; echo '{"method":"RPCServer.GetVersion","params":[{}],"id":1}' >&3; head -n 1 <&3`, host, port)
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, _ := cmd.CombinedOutput()
		if got := strings.Contains(string(out), "DelveVersion"); got != (uid == 0) {
			t.Errorf("user %d: %s", uid, out)
		}
	}
}
