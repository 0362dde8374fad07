//go:build linux

// Command embed is a debugger in miniature: it runs a program, and when a signal is about
// to end it, prints the stack of its main thread.
//
//	embed PROGRAM [ARGUMENT...]
//
// It shows how to use the engine in a debugger: process.go describes the process to the engine,
// backtrace.go asks the engine. See docs/embedding.md.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: embed PROGRAM [ARGUMENT...]")
		os.Exit(2)
	}
	if new(process).Arch() == nil {
		fmt.Fprintln(os.Stderr, "embed: there is no descriptor of processors like this one:", runtime.GOARCH)
		os.Exit(1)
	}
	status, err := debug(exec.Command(os.Args[1], os.Args[2:]...))
	if err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
	os.Exit(status)
}

// debug runs a program to its end and returns its exit status, like a shell.
func debug(cmd *exec.Cmd) (int, error) {
	runtime.LockOSThread() // ptrace knows tracers by their thread
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for begun := false; ; {
		var ws syscall.WaitStatus
		for {
			if _, err := syscall.Wait4(cmd.Process.Pid, &ws, 0, nil); err == nil {
				break
			} else if err != syscall.EINTR {
				return 0, fmt.Errorf("wait for %d: %w", cmd.Process.Pid, err)
			}
		}
		if ws.Exited() {
			return ws.ExitStatus(), nil
		} else if ws.Signaled() {
			return 128 + int(ws.Signal()), nil
		}
		sig := ws.StopSignal()
		if fatal[sig] {
			fmt.Fprintf(os.Stderr, "%s: %v\n", cmd.Path, sig)
			if err := backtrace(os.Stderr, cmd.Process.Pid); err != nil {
				fmt.Fprintln(os.Stderr, "stop:", err)
			}
		}
		if !begun { // the first stop comes from ptrace itself
			begun, sig = true, 0
		}
		if err := syscall.PtraceCont(cmd.Process.Pid, int(sig)); err != nil {
			return 0, fmt.Errorf("continue %d: %w", cmd.Process.Pid, err)
		}
	}
}

// fatal are the signals that a program's own mistakes raise.
var fatal = map[syscall.Signal]bool{
	syscall.SIGABRT: true, syscall.SIGBUS: true, syscall.SIGFPE: true, syscall.SIGILL: true, syscall.SIGSEGV: true,
}
