package stacks_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/remote"
)

// A gdbserver shows the same of a threaded process as the process itself.
func TestRemoteIsLive(t *testing.T) {
	for _, tt := range [][]string{{"threads.c", "5"}, {"sighandler.c", "alt", "middle"}, {"recurse.c"}} {
		t.Run(tt[0], func(t *testing.T) {
			p := gdbtest.Start(t, gdbtest.Build(t, tt[0], gdbtest.Plain...), tt[1:]...)
			flags := &report.Flags{Registers: tt[0] != "recurse.c"} // recurse.c has 20,000 frames
			want := commandtest.Take(t, p.PID, flags)
			port := commandtest.GDBServer(t, p.PID)
			// The process was stopped, and stays so: a second look sees the same.
			for range 2 {
				s, err := targets.Stub(context.Background(), "localhost:"+port, remote.Options{})
				if err != nil {
					t.Fatal(err)
				}
				got, warnings, err := report.Collect(s, flags)
				if err != nil || len(warnings) > 0 {
					t.Fatalf("%v, warnings %q", err, warnings)
				}
				if got.PID != p.PID || got.Exe != want.Exe || got.Arch != "amd64" {
					t.Errorf("process %d, %s, %s", got.PID, got.Exe, got.Arch)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				equalThreads(t, got, want)
			}
			out, errOut, err := commandtest.Run("remote", "localhost:"+port, "--resume", "--json", "--registers", "--explain", "--max-frames", "50")
			if err != nil {
				t.Fatalf("%v\n%s", err, errOut)
			}
			commandtest.InPage(t, "sfwalk remote", out)
			equalThreads(t, commandtest.Take(t, p.PID, flags), want) // gdbserver has let the process go
		})
	}
}

// lldbServer attaches an lldb-server to a process, which it stops, and returns its port. It ends
// when a client detaches from it.
func lldbServer(t *testing.T, pid int) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	l.Close()
	cmd := exec.Command(gdbtest.Tool(t, "lldb-server"), "gdbserver", "--attach", strconv.Itoa(pid), "127.0.0.1:"+port)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill() })
	n, _ := strconv.Atoi(port)
	listens := fmt.Sprintf(":%04X 00000000:0000 0A", n) // a connection would be the one that it serves
	gdbtest.Await(t, "lldb-server listens", func() bool {
		select {
		case err := <-ended:
			gdbtest.Cannot(t, fmt.Sprintf("lldb-server does not attach to a process: %v: %s", err, &said))
		default:
		}
		text, _ := os.ReadFile("/proc/net/tcp")
		return strings.Contains(string(text), listens)
	})
	return port
}

// TestRemoteLLDB: an lldb-server shows the same of a threaded process as the process itself, with
// the registers and the names of all threads. It refuses a call, for the kernel would begin the
// system call again, and the process goes on afterwards.
func TestRemoteLLDB(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "5")
	flags := &report.Flags{Registers: true}
	take := func() *report.Document { return withoutBases(commandtest.Take(t, p.PID, flags)) }
	want := take()
	for _, call := range []bool{true, false} {
		port := lldbServer(t, p.PID)
		if call {
			out, _, err := commandtest.Run("remote", "127.0.0.1:"+port, "--resume", "--call", "getpid()")
			if err == nil || !strings.Contains(err.Error()+out, "lldb-server has no register") {
				t.Errorf("%v\n%s", err, out)
			}
			continue
		}
		s, err := targets.Stub(context.Background(), "127.0.0.1:"+port, remote.Options{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		got, warnings, err := report.Collect(s, flags)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%v, warnings %q", err, warnings)
		}
		if got.PID != p.PID || got.Arch != "amd64" || got.Signal == nil || got.Signal.Name != "SIGSTOP" {
			t.Errorf("process %d, %s, %+v", got.PID, got.Arch, got.Signal)
		}
		for i := range got.Threads {
			if w := slices.IndexFunc(want.Threads, func(w report.Thread) bool { return w.TID == got.Threads[i].TID }); w < 0 || want.Threads[w].Name != got.Threads[i].Name {
				t.Errorf("thread %d is %q", got.Threads[i].TID, got.Threads[i].Name)
			}
		}
		equalThreads(t, withoutBases(got), want)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	equalThreads(t, take(), want) // lldb-server has let the process go
}

// withoutBases leaves out registers that old releases of lldb-server do not tell.
func withoutBases(d *report.Document) *report.Document {
	for i := range d.Threads {
		for k := range d.Threads[i].Frames {
			f := &d.Threads[i].Frames[k]
			f.Registers = slices.DeleteFunc(f.Registers, func(r report.Register) bool { return r.Name == "fs_base" || r.Name == "gs_base" })
		}
	}
	return d
}
