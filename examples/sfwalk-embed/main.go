//go:build linux

// Command sfwalk-embed is a debugger in miniature: it runs a program, and when a signal is about
// to end it, prints the stack of its main thread.
//
//	sfwalk-embed PROGRAM [ARGUMENT...]
//	sfwalk-embed -break FUNCTION PROGRAM [ARGUMENT...]
//
// With -break, it runs the program to a function, and does what standard input says: finish, nexti,
// return, continue.
//
// It shows how to use the engine in a debugger: process.go describes the process to the engine,
// backtrace.go asks the engine, control.go has the program run by frames. See docs/embedding.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

func main() {
	at := flag.String("break", "", "run the program to this `function`, and read commands")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: sfwalk-embed [-break FUNCTION] PROGRAM [ARGUMENT...]")
		os.Exit(2)
	}
	flag.Parse()
	if flag.NArg() < 1 {
		flag.Usage()
	}
	if new(process).Arch() == nil {
		fmt.Fprintln(os.Stderr, "sfwalk-embed: there is no descriptor of processors like this one:", runtime.GOARCH)
		os.Exit(1)
	}
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	status, err := 0, error(nil)
	if *at != "" {
		status, err = control(context.Background(), cmd, *at, os.Stdin, os.Stdout)
	} else {
		status, err = debug(cmd)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sfwalk-embed:", err)
		os.Exit(1)
	}
	os.Exit(status)
}

// debug runs a program to its end and returns its exit status, like a shell.
func debug(cmd *exec.Cmd) (int, error) {
	runtime.LockOSThread() // ptrace knows tracers by their thread
	cmd.Stdin = os.Stdin
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
