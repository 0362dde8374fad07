//go:build linux

package guesttest

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

//go:embed connect.py
var connectPy string

//go:embed stops.py
var stopsPy string

//go:embed i386.xml
var i386Description string

//go:embed s390x.xml
var s390xDescription string

// A Stop is a guest that stands still in one of its scenarios.
type Stop struct {
	Scenario string
	Stopped  int // the thread at the breakpoint
	Threads  []gdbtest.Thread
	Full     string // gdb's text of all variables, if asked for
	Core     string // gdb's core file of it, if asked for
	Stub     string // path of the unix socket at which the guest may be looked at
}

// Each runs the guest under gdb-multiarch and calls visit at each of its stops, at the first
// instruction of stop_here. A visit that connects to the stop's stub must close the connection
// before it returns. If cores is set, gdb writes a core file at each stop without a signal frame.
func (g *Guest) Each(t testing.TB, cores bool, visit func(*Stop)) {
	t.Helper()
	share := newShare(t, g.Serve(t), g.noVDSO)
	params := g.params(t, share.gdb)
	if cores {
		params["cores"] = t.TempDir()
	}
	script := gdbtest.StartScript(t, "gdb-multiarch", connectPy+stopsPy, params, g.Path)
	n := 0
	for ; ; n++ {
		stop := next(t, script)
		if stop == nil {
			break
		}
		stop.Stub = share.guest
		visit(stop)
		share.idle(t)
		script.Answer(t, "")
	}
	if n == 0 {
		t.Fatal(errNoStop)
	}
}

// EachDump is Each with qemu's core files: for each stop there is a guest that gdb has seen there,
// and that has died there of SIGABRT.
func (g *Guest) EachDump(t testing.TB, visit func(*Stop)) {
	t.Helper()
	dump := func() (string, running) {
		socket, process := g.serve(t, true)
		return newShare(t, socket, g.noVDSO).gdb, process
	}
	socket, process := dump()
	params := g.params(t, socket)
	params["kill"] = true
	script := gdbtest.StartScript(t, "gdb-multiarch", connectPy+stopsPy, params, g.Path)
	n := 0
	for ; ; n++ {
		stop := next(t, script)
		if stop == nil {
			break
		}
		dying := process
		socket, process = dump()
		script.Answer(t, socket)
		select {
		case <-dying.exited:
		case <-time.After(time.Until(gdbtest.Deadline(t))):
			t.Fatal("the guest does not die")
		}
		stop.Core = dying.core(t)
		visit(stop)
	}
	if n == 0 {
		t.Fatal(errNoStop)
	}
}

// next reads a stop, nil after the last one.
func next(t testing.TB, script *gdbtest.Script) *Stop {
	t.Helper()
	record := script.Next(t)
	if record == nil {
		return nil
	}
	stop := new(Stop)
	if err := json.Unmarshal(record, stop); err != nil {
		t.Fatalf("gdb's answer: %v", err)
	}
	return stop
}

// params are what connect.py and frames.py need.
func (g *Guest) params(t testing.TB, stub string) map[string]any {
	t.Helper()
	description := ""
	if g.description != "" {
		description = filepath.Join(t.TempDir(), "target.xml")
		if err := os.WriteFile(description, []byte(g.description), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stops := g.Stops
	if stops == nil {
		stops = []string{"stop_here"}
	}
	return map[string]any{
		"stub":  stub,
		"stops": stops,
		"full":  g.Full,
		"cores": "",
		// gdb does not know the page with qemu's signal trampoline.
		"coreless":    []string{"leaf", "first", "locals", "alternate", "nested", "raise"},
		"kill":        false,
		"infos":       g.Infos,
		"names":       g.Registers,
		"argument":    map[string]string{"arm": "r0", "arm64": "x0", "386": "", "s390x": "r2"}[g.GOARCH],
		"description": description,
		"sysroot":     g.Root,
	}
}
