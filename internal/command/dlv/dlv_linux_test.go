//go:build amd64 || arm64

package dlv

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
)

// startDlv starts an installed "sfwalk dlv", and returns the address at which it listens.
func startDlv(t *testing.T, args ...string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	return startDlvIn(t, "", args...)
}

// startDlvIn starts it in a folder.
func startDlvIn(t *testing.T, dir string, args ...string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	cmd = exec.Command(filepath.Join(commandtest.Install(t, "sfwalk", "sfwalk-full"), "sfwalk"), append([]string{"dlv"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errOut strings.Builder
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	what := "API"
	if args[0] == "dap" {
		what = "DAP"
	}
	addr, ok := strings.CutPrefix(line, what+" server listening at: ")
	if err != nil || !ok {
		cmd.Wait()
		t.Fatalf("%q, %v, %s", line, err, &errOut)
	}
	return cmd, strings.TrimSpace(addr)
}

// dlvConnect runs the real dlv on a server.
func dlvConnect(t *testing.T, addr string, commands ...string) string {
	t.Helper()
	cmd := exec.Command(gdbtest.ModuleTool(t, "dlv"), "connect", addr, "--allow-non-terminal-interactive=true")
	config, err := os.MkdirTemp("", "dlv") // files may still appear in it when dlv has ended
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(config) })
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+config)
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("dlv connect %s: %v\n%s", addr, err, out)
	}
	return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(string(out), "")
}

func traced(t *testing.T, pid int) bool {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	return !strings.Contains(string(status), "\nTracerPid:\t0\n")
}

// Delve 1.27 does not stop a thread that begins while it attaches, which happens to every second
// attachment to this program.
func TestDlvAttachNewThreads(t *testing.T) {
	program := gdbtest.Build(t, "newthreads.c")
	for range 6 {
		p := gdbtest.StartRunning(t, program)
		cmd, _ := startDlv(t, "attach", strconv.Itoa(p.PID), "--listen", "unix:"+filepath.Join(t.TempDir(), "dlv"))
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.PID))
		if err != nil {
			t.Fatal(err)
		}
		running := slices.DeleteFunc(tasks, func(task os.DirEntry) bool {
			id, err := strconv.Atoi(task.Name())
			return err == nil && traced(t, id)
		})
		if len(running) > 0 {
			t.Errorf("%d threads are not stopped", len(running))
		}
		p.Stdin.Close()
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	}
}

// The server becomes sfwalk-full, prints its address as dlv does, and ends with its client. The
// process runs on, also one of a C program.
func TestDlvAttach(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c"))
	socket := filepath.Join(t.TempDir(), "dlv")
	cmd, addr := startDlv(t, "attach", strconv.Itoa(p.PID), "--listen", "unix:"+socket)
	if addr != socket || !traced(t, p.PID) {
		t.Errorf("listens at %q, traced %t", addr, traced(t, p.PID))
	}
	out := dlvConnect(t, "unix:"+socket, "stack", "exit -d")
	if strings.Count(out, " in ") < 4 || !strings.Contains(out, "main") {
		t.Errorf("no stack:\n%s", out)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if traced(t, p.PID) || strings.Trim(p.States(t), "SR") != "" {
		t.Errorf("it does not run on: %s", p.States(t))
	}
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is still there")
	}
}

// However the server ends, a process that it has attached to runs on. If the server is killed, the
// kernel detaches it.
func TestDlvEnds(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		p := gdbtest.Start(t, gdbtest.Build(t, "chain.c"))
		cmd, addr := startDlv(t, "attach", strconv.Itoa(p.PID), "--accept-multiclient")
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		err = cmd.Wait()
		if (err != nil) != (sig == syscall.SIGKILL) {
			t.Errorf("%v: %v", sig, err)
		}
		gdbtest.Await(t, "the process to be let go", func() bool { return !traced(t, p.PID) && strings.Trim(p.States(t), "SR") == "" })
	}
}

// A program that the server has started ends with the server, also if a signal ends that.
func TestDlvExec(t *testing.T) {
	chain := gdbtest.Build(t, "chain.c")
	dir := t.TempDir()
	cmd, addr := startDlv(t, "exec", chain, "--wd", dir, "--", "--an-argument")
	pids := commandtest.Running(t, chain)
	if len(pids) != 1 {
		t.Fatalf("processes %v", pids)
	}
	proc := fmt.Sprintf("/proc/%d/", pids[0])
	line, err := os.ReadFile(proc + "cmdline")
	if wd, err2 := os.Readlink(proc + "cwd"); string(line) != chain+"\x00--an-argument\x00" || wd != dir {
		t.Errorf("%q in %s: %v, %v", line, wd, err, err2)
	}
	out := dlvConnect(t, addr, "stack", "exit")
	if !strings.Contains(out, " in ") {
		t.Errorf("no stack:\n%s", out)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	gdbtest.Await(t, "the program to end", func() bool { return len(commandtest.Running(t, chain)) == 0 })
}

// A package is built and started, or its tests are, in their folder; the file is removed when the
// client ends the debugging.
func TestDlvDebug(t *testing.T) {
	dir, sub := t.TempDir(), "sub"
	for name, text := range map[string]string{
		"go.mod":          "module example.com/small\n\ngo 1.24\n",
		"main.go":         "package main\n\nimport \"os\"\n\nfunc show(word string) { println(word) }\n\nfunc main() { show(os.Args[1]) }\n",
		"sub/sub.go":      "package sub\n",
		"sub/sub_test.go": "package sub\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestSub(t *testing.T) { dir, _ := os.Getwd(); show(dir) }\n\nfunc show(word string) { println(word) }\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args []string
		word string
	}{
		{[]string{"debug", "--", "hello"}, "hello"},
		{[]string{"debug", ".", "--build-flags=-tags=a,b", "--output", "built", "--", "hello"}, "hello"},
		{[]string{"test", "./" + sub, "--", "-test.run", "TestSub"}, filepath.Join(dir, sub)},
	} {
		cmd, addr := startDlvIn(t, dir, tt.args...)
		out := dlvConnect(t, addr, "break show", "continue", "print word", "stack", "exit")
		if !strings.Contains(out, strconv.Quote(tt.word)) || !strings.Contains(out, "runtime.goexit") {
			t.Errorf("%q: %s", tt.args, out)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 3 {
			t.Errorf("%q leaves %v, %v", tt.args, files, err)
		}
	}
}

// An editor that waits at an address is called, and the server ends with it.
func TestDlvDAP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd, addr := startDlv(t, "dap", "--log", "--log-output=dap", "--check-go-version=false", "--headless")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	initialize(t, conn)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	called := exec.Command(filepath.Join(commandtest.Install(t, "sfwalk", "sfwalk-full"), "sfwalk"), "dlv", "dap", "--client-addr", l.Addr().String())
	if err := called.Start(); err != nil {
		t.Fatal(err)
	}
	if conn, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	initialize(t, conn)
	if err := called.Wait(); err != nil {
		t.Error(err)
	}
}

// initialize begins a session of DAP, and ends it.
func initialize(t *testing.T, conn net.Conn) {
	t.Helper()
	defer conn.Close()
	request := `{"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "go"}}`
	fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(request), request)
	reply := make([]byte, 4096)
	if n, err := conn.Read(reply); err != nil || !strings.Contains(string(reply[:n]), "Content-Length: ") {
		t.Fatalf("%q, %v", reply[:n], err)
	}
}

// ask sends a request to a server, and returns the result.
func ask(t *testing.T, conn net.Conn, method, params string) json.RawMessage {
	t.Helper()
	fmt.Fprintf(conn, `{"method": "RPCServer.%s", "params": [%s], "id": 1}`, method, params)
	var reply struct {
		Result json.RawMessage
		Error  any
	}
	if err := json.NewDecoder(conn).Decode(&reply); err != nil || reply.Error != nil {
		t.Fatalf("%s %s: %v, %v", method, params, err, reply.Error)
	}
	return reply.Result
}

// dlvNames asks for the stack of the selected thread, and returns the names and files of its frames
// that match.
func dlvNames(t *testing.T, conn net.Conn, match string) string {
	t.Helper()
	var stack struct {
		Locations []struct {
			File     string
			Line     int
			Function *struct{ Name string }
		}
	}
	if err := json.Unmarshal(ask(t, conn, "Stacktrace", `{"Id": -1, "Depth": 100}`), &stack); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range stack.Locations {
		if f.Function != nil && regexp.MustCompile(match).MatchString(f.Function.Name) {
			if strings.HasPrefix(f.Function.Name, "C.") {
				f.Line = 0
			}
			got = append(got, fmt.Sprintf("%s %s:%d", f.Function.Name, filepath.Base(f.File), f.Line))
		}
	}
	return strings.Join(got, ", ")
}

// runMeanwhile has the process run while f runs.
func runMeanwhile(t *testing.T, pid string, conn, other net.Conn, f func()) {
	t.Helper()
	fmt.Fprint(other, `{"method": "RPCServer.Command", "params": [{"name": "continue"}], "id": 2}`)
	gdbtest.Await(t, "the process to run", func() bool { // if another request comes at the same moment, Delve may answer this one only when the process has stopped
		status, err := os.ReadFile("/proc/" + pid + "/status")
		return err == nil && !strings.Contains(string(status), "\nState:\tt")
	})
	f()
	ask(t, conn, "Command", `{"name": "halt"}`)
	if err := json.NewDecoder(other).Decode(&struct{}{}); err != nil {
		t.Fatal(err)
	}
}

// dialDlv connects to a server twice.
func dialDlv(t *testing.T, addr string) (conns [2]net.Conn) {
	t.Helper()
	for i := range conns {
		var err error
		if conns[i], err = net.Dial("tcp", addr); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conns[i].Close() })
		conns[i].SetDeadline(gdbtest.Deadline(t))
	}
	return conns
}

// Plug-ins are asked, and name frames, at each stop of a process and in its core.
func TestDlvPlugin(t *testing.T) {
	const (
		down = "C.down jit.c:0"
		want = down + ", jitted1 jitted.js:2, " + down + ", jitted2 jitted.js:3, " + down + ", jitted0 jitted.js:1, " + down
	)
	pid := commandtest.StartJIT(t)
	core := filepath.Join(t.TempDir(), "core")
	plugin := plugintest.Path(t, "jit")
	cmd, addr := startDlv(t, "attach", pid, "--accept-multiclient", "--plugin", plugin)
	conns := dialDlv(t, addr)
	for range 3 {
		if got := dlvNames(t, conns[0], `^C\.down$|^jitted`); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		runMeanwhile(t, pid, conns[0], conns[1], func() {})
	}
	dlvConnect(t, addr, "dump "+core, "exit -d", "n")
	ask(t, conns[0], "Detach", `{"Kill": false}`)
	if err := cmd.Wait(); err != nil || fmt.Sprint(cmd.Stderr) != "" {
		t.Errorf("%v, %v", err, cmd.Stderr)
	}
	exe, err := os.Readlink("/proc/" + pid + "/exe")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SFWALK_PLUGIN_PATH", filepath.Dir(plugin))
	cmd, addr = startDlv(t, "core", exe, core)
	out := dlvConnect(t, addr, "stack 100", "exit")
	if got := regexp.MustCompile(`in (jitted\d)\n +at (jitted\.js:\d)\n`).FindAllString(out, -1); len(got) != 3 {
		t.Errorf("%q in\n%s", got, out)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A plug-in that goes wrong costs a warning.
func TestDlvPluginFaults(t *testing.T) {
	pid := commandtest.StartJIT(t)
	for mode, warning := range map[string]string{
		"sniff-crash": "the plug-in has ended", "sniff-hang": "does not answer in time", "hs-exit": "no licence was found",
	} {
		cmd, addr := startDlv(t, "attach", pid, "--plugin", plugintest.Path(t, mode))
		out := dlvConnect(t, addr, "stack 100", "stack 100", "exit -d")
		if n := strings.Count(out, "C.down"); n < 2 {
			t.Errorf("%s: down is there %d times:\n%s", mode, n, out)
		}
		if err := cmd.Wait(); err != nil || strings.Count(fmt.Sprint(cmd.Stderr), "warning: ") != 1 || !strings.Contains(fmt.Sprint(cmd.Stderr), warning) {
			t.Errorf("%s: %v, %v", mode, err, cmd.Stderr)
		}
	}
	// While the process runs, Delve is the first to notice that a plug-in has ended.
	plugin := plugintest.Path(t, "jit")
	cmd, addr := startDlv(t, "attach", pid, "--plugin", plugin, "--accept-multiclient")
	conns := dialDlv(t, addr)
	whole := dlvNames(t, conns[0], `^C\.down$|^jitted`)
	runMeanwhile(t, pid, conns[0], conns[1], func() {
		for _, pid := range commandtest.Running(t, plugin) {
			syscall.Kill(pid, syscall.SIGKILL)
			gdbtest.Await(t, "the plug-in to end", func() bool { return len(commandtest.Running(t, plugin)) == 0 })
		}
	})
	if got := dlvNames(t, conns[0], `^C\.down$|^jitted`); strings.Contains(got, "jitted") || !strings.Contains(whole, "jitted") || !strings.Contains(got, "C.down") {
		t.Errorf("without the plug-in: %s, with: %s", got, whole)
	}
	ask(t, conns[0], "Detach", `{"Kill": false}`)
	if err := cmd.Wait(); err != nil || !strings.Contains(fmt.Sprint(cmd.Stderr), "the plug-in has ended") {
		t.Errorf("%v, %v", err, cmd.Stderr)
	}
	if traced(t, commandtest.PIDOf(t, pid)) {
		t.Error("it is still traced")
	}
}

// A plug-in's name for one frame is shown in place of the name of its code, which Delve knows.
func TestDlvPluginNames(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "recurse.c", "-g", "-O2", "-fno-omit-frame-pointer"), "40")
	var want []string
	for _, f := range gdbtest.Backtrace(t, p.PID)[0].Frames {
		if f.Function == "even" || f.Function == "odd" {
			want = append(want, fmt.Sprintf("script%d s.x:%d", f.Level, 100+f.Level))
		}
	}
	_, addr := startDlv(t, "attach", strconv.Itoa(p.PID), "--plugin", plugintest.Path(t, "interpreter"))
	if got := dlvNames(t, dialDlv(t, addr)[0], `^(script\d+|C\.even|C\.odd)$`); len(want) != 40 || got != strings.Join(want, ", ") {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// Error messages name the mistake and its remedy.
func TestDlvErrors(t *testing.T) {
	p := commandtest.StartDemo(t)
	dir := t.TempDir()
	chain := gdbtest.Build(t, "chain.c")
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data") // a program without the permission to execute
	if content, err := os.ReadFile(chain); err != nil || os.WriteFile(data, content, 0o644) != nil {
		t.Fatal(err)
	}
	core := filepath.Join(dir, "core")
	commandtest.GCore(t, p.PID, core)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	pid := strconv.Itoa(p.PID)
	for _, tt := range []struct {
		args  string
		usage bool
		want  string
	}{
		{"dlv", true, "which command? attach, exec, debug, test, core or dap"},
		{"dlv attach", true, " is missing"},
		{"dlv attach x", true, "dlv attach x: no such process: want the number of one"},
		{"dlv attach " + strconv.Itoa(p.PID+1<<32), false, "no such process"},
		{"dlv attach 999999999", false, "attach 999999999: no such process"},
		{"dlv attach " + pid + " --listen nonsense", false, "--listen: listen tcp: address nonsense: missing port"},
		{"dlv attach " + pid + " --listen " + busy.Addr().String(), false, "address already in use"},
		{"dlv exec " + chain + " argument", true, "dlv exec " + chain + ": put -- before its arguments"},
		{"dlv exec " + text, false, text + ": not an ELF file: EOF"},
		{"dlv exec " + dir + "/nothing", false, dir + "/nothing: no such file or directory"},
		{"dlv exec " + data, false, data + ": it cannot be executed: chmod +x"},
		{"dlv exec " + chain + " --wd /nonexistent", false, "--wd /nonexistent: want a folder"},
		{"dlv debug a b", true, "dlv debug a: it builds one package; put -- before the program's arguments"},
		{"dlv debug " + dir + " --wd /nonexistent", false, "--wd /nonexistent: want a folder"},
		{"dlv debug " + dir, false, "-gcflags all=-N -l " + dir + ": exit status 1"},
		{"dlv dap --headless=false", true, "--headless=false: sfwalk dlv is a server"},
		{"dlv dap --api-version 1", true, "--api-version 1: want 2"},
		{"dlv dap --log-output dap", true, "--log-output needs --log"},
		{"dlv dap --log --log-output dap --log-dest /nonexistent/file", false, "/nonexistent/file: no such file or directory"},
		{"dlv dap --client-addr 127.0.0.1:1", false, "--client-addr: dial tcp 127.0.0.1:1: connect: connection refused"},
		{"dlv core " + core + " " + chain, false, core + " is a core file, not a program: the program comes first"},
		{"dlv core " + chain + " " + chain, false, chain + " is not a core file, but of ELF type ET_"},
		{"dlv core " + chain + " " + core, false, core + " is of another program than " + chain},
	} {
		_, _, err := commandtest.Run(strings.Fields(tt.args)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, new(exit.Usage)) != tt.usage {
			t.Errorf("%s: %v, want %s", tt.args, err, tt.want)
		}
	}
	if traced(t, p.PID) {
		t.Error("the process is traced")
	}
	// Without sfwalk-full, there is no Delve.
	t.Setenv("PATH", "/nonexistent")
	plain := commandtest.Install(t, "sfwalk")
	_, errOut, code := commandtest.RunInstalled(t, filepath.Join(plain, "sfwalk"), "dlv", "attach", pid)
	if want := "need sfwalk-full, which is neither beside"; code != 1 || !strings.Contains(errOut, want) {
		t.Errorf("exit code %d, %s, want %s", code, errOut, want)
	}
}

// Other users of this machine may connect only if the user allows it.
func TestDlvOtherUser(t *testing.T) {
	gdbtest.NeedRoot(t)
	for _, flags := range [][]string{{"--only-same-user=false"}, nil} {
		p := gdbtest.Start(t, gdbtest.Build(t, "chain.c"))
		_, addr := startDlv(t, append([]string{"attach", strconv.Itoa(p.PID), "--accept-multiclient"}, flags...)...)
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(gdbtest.Tool(t, "bash"), "-c", `exec 3<>/dev/tcp/$0/$1; echo '{"method":"RPCServer.GetVersion","params":[{}],"id":1}' >&3; head -n 1 <&3`, host, port)
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, _ := cmd.CombinedOutput()
		if got := strings.Contains(string(out), "DelveVersion"); got != (flags != nil) {
			t.Errorf("%q: another user is told: %s", flags, out)
		}
	}
}
