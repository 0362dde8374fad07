//go:build linux

package gdbtest

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

//go:embed moments.py
var momentsPy string

// A Moment is where a program is to be stopped.
type Moment struct {
	Function string `json:"function"` // a name that the linker knows, or "" for where the program is by now
	Steps    int    `json:"steps"`    // how many instructions follow, what it calls among them
}

// A Stop is a moment that a program came to.
type Stop struct {
	Moment  int    // its index
	Core    string // the core file that gdb has written of it
	Threads []Thread
	Error   string // what gdb could not do at this moment
}

// Moments runs the program under gdb, stops it at each of the moments that it comes to, and has gdb
// write a core file into the folder cores. If gdb takes more than limit of the processors' time, or
// has nothing to do because the program never comes to where it waits for it, gdb is ended with all
// processes that the program has started, and failure says so; the stops until then count. No
// frames beyond the first 2000 are asked for.
func Moments(t testing.TB, program, cores string, moments []Moment, limit time.Duration) (stops []Stop, failure error) {
	t.Helper()
	NeedAMD64(t)
	NeedRoot(t) // for a PID namespace, with which all processes end
	Tool(t, "gdb")
	wrapper := filepath.Join(t.TempDir(), "gdb")
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\nexec unshare --pid --fork --kill-child --mount-proc gdb \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := StartScript(t, wrapper, momentsPy, map[string]any{"names": registerNames(), "moments": moments, "cores": cores, "limit": 2000}, "--args", program)
	ended := make(chan struct{})
	defer close(ended)
	go endIdle(s.cmd.Process, limit, ended)
	for {
		record, err := s.next()
		if err != nil || record == nil {
			return stops, err
		}
		var stop Stop
		if err := json.Unmarshal(record, &stop); err != nil {
			return stops, err
		}
		stops = append(stops, stop)
	}
}
