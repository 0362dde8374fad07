#!/bin/sh
# "dlv attach" does not stop a thread that begins while it attaches: Delve lists /proc/PID/task once, and a thread that
# one not yet attached makes after the list is in nobody's hands. It runs on for the whole session, changes what Delve
# reads, and its goroutine is "running" on no thread. gdb lists the threads again until a list has nothing new.
#
# Seen with Delve 1.27.2 and go1.26.0 on Linux 6.18, and a program that makes a thread a millisecond: "43 of 100
# attachments leave a thread that is not traced". A Go program that collects garbage on 20 threads: 1 of 200. The number
# is chance; 0 is not.
set -eu
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
mkdir target attach
cat >target/main.go <<'END'
package main

import (
	"os"
	"runtime"
	"time"
)

func main() {
	go breed(2000)
	os.Stdout.WriteString("ready\n")
	time.Sleep(time.Minute)
}

// breed keeps its thread, so that the next one needs a thread of its own.
func breed(more int) {
	runtime.LockOSThread()
	time.Sleep(time.Millisecond)
	if more > 0 {
		go breed(more - 1)
	}
	select {}
}
END
cat >attach/main.go <<'END'
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-delve/delve/pkg/logflags"
	"github.com/go-delve/delve/pkg/proc/native"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// untraced reports whether a thread of a new process is not traced once Delve has attached.
func untraced(program string) bool {
	target := exec.Command(program)
	out, err := target.StdoutPipe()
	check(err)
	check(target.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	check(err)
	group, err := native.Attach(target.Process.Pid, nil, nil)
	check(err)
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", target.Process.Pid))
	check(err)
	found := false
	for _, file := range files {
		if status, err := os.ReadFile(file); err == nil && strings.Contains(string(status), "TracerPid:\t0\n") {
			found = true
		}
	}
	check(group.Detach(true))
	return found
}

func main() {
	check(logflags.Setup(false, "", ""))
	missed := 0
	for range 100 {
		if untraced(os.Args[1]) {
			missed++
		}
	}
	fmt.Printf("%d of 100 attachments leave a thread that is not traced\n", missed)
	if missed == 0 {
		os.Exit(1)
	}
}
END
printf 'module finding\n\ngo 1.26.0\ntoolchain go1.26.0\n' >go.mod
export GOTOOLCHAIN=go1.26.0 GOFLAGS=-mod=mod CGO_ENABLED=0
go get github.com/go-delve/delve@v1.27.2 >/dev/null 2>&1
go build -o target/target ./target && go build -o attach/attach ./attach
attach/attach target/target
