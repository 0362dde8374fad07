//go:build amd64 || arm64

package command

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// startDlv starts an installed "sfwalk dlv", and returns the address at which it listens.
func startDlv(t *testing.T, args ...string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	cmd = exec.Command(filepath.Join(install(t, "sfwalk", "sfwalk-full"), "sfwalk"), append([]string{"dlv"}, args...)...)
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
	addr, ok := strings.CutPrefix(line, "API server listening at: ")
	if err != nil || !ok {
		cmd.Wait()
		t.Fatalf("%q, %v, %s", line, err, &errOut)
	}
	return cmd, strings.TrimSpace(addr)
}

// dlvConnect runs the real dlv on a server.
func dlvConnect(t *testing.T, addr string, commands ...string) string {
	t.Helper()
	path, err := exec.Command("go", "tool", "-n", "dlv").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(strings.TrimSpace(string(path)), "connect", addr, "--allow-non-terminal-interactive=true")
	config, err := os.MkdirTemp("", "dlv") // whose files may still come when dlv is gone
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
	return string(out)
}

func traced(t *testing.T, pid int) bool {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	return !strings.Contains(string(status), "\nTracerPid:\t0\n")
}

// The server becomes sfwalk-full, says where it listens as dlv does, and ends with its
// client; the process runs on, one of C as well.
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

// However the server ends, a process that it has attached to runs on; killed, too: the kernel
// lets go of it.
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
		wait(t, "the process to be let go", func() bool { return !traced(t, p.PID) && strings.Trim(p.States(t), "SR") == "" })
	}
}

// A program that was started ends with the server, by a signal as well.
func TestDlvExec(t *testing.T) {
	chain := gdbtest.Build(t, "chain.c")
	dir := t.TempDir()
	cmd, addr := startDlv(t, "exec", chain, "--wd", dir, "--", "--an-argument")
	pids := running(t, chain)
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
	wait(t, "the program to end", func() bool { return len(running(t, chain)) == 0 })
}

// Mistakes are named, with their remedy.
func TestDlvErrors(t *testing.T) {
	p := startDemo(t)
	dir := t.TempDir()
	chain := gdbtest.Build(t, "chain.c")
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data") // a program that may not be executed
	if content, err := os.ReadFile(chain); err != nil || os.WriteFile(data, content, 0o644) != nil {
		t.Fatal(err)
	}
	core := filepath.Join(dir, "core")
	gcore(t, p.PID, core)
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
		{"dlv", true, "which command? attach, exec or core"},
		{"dlv attach", true, "accepts 1 arg"},
		{"dlv attach x", true, "dlv attach x: want the number of a process"},
		{"dlv attach 999999999", false, "attach 999999999: no such process"},
		{"dlv attach " + pid + " --listen nonsense", false, "--listen: listen tcp: address nonsense: missing port"},
		{"dlv attach " + pid + " --listen " + busy.Addr().String(), false, "address already in use"},
		{"dlv exec " + chain + " argument", true, "dlv exec " + chain + ": put -- before its arguments"},
		{"dlv exec " + text, false, text + ": not an ELF file: EOF"},
		{"dlv exec " + dir + "/nothing", false, dir + "/nothing: no such file or directory"},
		{"dlv exec " + data, false, data + ": it cannot be executed: chmod +x"},
		{"dlv exec " + chain + " --wd /nonexistent", false, "--wd /nonexistent: want a folder"},
		{"dlv core " + core + " " + chain, false, core + " is a core file, not a program: the program comes first"},
		{"dlv core " + chain + " " + chain, false, chain + " is not a core file, but of ELF type ET_"},
		{"dlv core " + chain + " " + core, false, core + " is of another program than " + chain},
	} {
		_, _, err := command(strings.Fields(tt.args)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, new(usageError)) != tt.usage {
			t.Errorf("%s: %v, want %s", tt.args, err, tt.want)
		}
	}
	if traced(t, p.PID) {
		t.Error("the process is traced")
	}
	// Without sfwalk-full there is no Delve.
	t.Setenv("PATH", "/nonexistent")
	plain := install(t, "sfwalk")
	_, errOut, code := sfwalk(t, filepath.Join(plain, "sfwalk"), "dlv", "attach", pid)
	if want := "Delve are run by sfwalk-full, which is neither beside"; code != 1 || !strings.Contains(errOut, want) {
		t.Errorf("exit code %d, %s, want %s", code, errOut, want)
	}
}
