package mono_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/mono"
)

const (
	slots    = 64
	slotSize = 64 << 10
	deepest  = "Stops.Deep.Deepest"
)

// TestStops stops testdata/stops.cs at random moments. Each of its threads that says what Mono says
// of its stack has the program's own frames of these.
func TestStops(t *testing.T) {
	command := monoCommand(t)
	stops := 20
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	for _, flag := range []string{"--optimize=all", "--optimize=-all", "--debug"} {
		t.Run(flag, func(t *testing.T) {
			name := slotsFile(t)
			p := gdbtest.StartRunning(t, command, flag, filepath.Join("testdata", "stops.exe"), name, "3")
			seen := 0
			for seen < stops && !t.Failed() {
				for range rand.N(100) {
					p.States(t) // it runs meanwhile
				}
				p.Stop(t)
				seen += compare(t, said(t, name), languagetest.Attach(t, p.PID, mono.Decorator{}, nil))
				p.Continue(t)
			}
		})
	}
}

// monoCommand returns the command that runs Mono's programs.
func monoCommand(t *testing.T) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	gdbtest.Later(t, "mono")
	return gdbtest.Tool(t, "mono")
}

func slotsFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "slots")
	if err := os.WriteFile(name, make([]byte, slots*slotSize), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// compare compares the frames of threads with what Mono says. It returns how many threads Mono says
// anything of.
func compare(t *testing.T, said map[int][]string, all map[int]*languagetest.Thread) (seen int) {
	t.Helper()
	for tid, want := range said {
		th := all[tid]
		if th == nil {
			continue
		}
		if have := outside(th); strings.Join(have, "\n") != strings.Join(want, "\n") {
			t.Errorf("thread %d, whole: %t\n%s\nMono says:\n%s", tid, th.Stack.Whole, strings.Join(have, "\n"), strings.Join(want, "\n"))
		}
		seen++
	}
	return seen
}

// said returns what the threads of the program say of themselves, by their IDs.
func said(t *testing.T, name string) map[int][]string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	all := map[int][]string{}
	for ; len(b) > 0; b = b[slotSize:] {
		order := binary.LittleEndian
		n := order.Uint64(b[16:])
		if order.Uint64(b)%2 == 0 && n > 0 {
			all[int(order.Uint64(b[8:]))] = parse(string(b[24 : 24+n]))
		}
	}
	return all
}

// typeArguments are what Mono writes behind names of generic types and methods.
var typeArguments = regexp.MustCompile(`\[[^\]]*\]`)

// parse returns the program's own frames of a trace that are outside of the innermost place.
func parse(text string) (list []string) {
	_, text, _ = strings.Cut(text, "at "+deepest+" (")
	_, text, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "at ")
		if function, _, _ := strings.Cut(line, " ("); strings.HasPrefix(function, "Stops.") && !strings.HasPrefix(function, "Stops.Native.") {
			list = append(list, strings.ReplaceAll(typeArguments.ReplaceAllString(function, ""), "+", "."))
		}
	}
	return list
}

// outside returns the program's own frames of a thread that are outside of the innermost place.
func outside(th *languagetest.Thread) (list []string) {
	found := false
	for _, f := range th.Frames() {
		if found && strings.HasPrefix(f.Function, "Stops.") {
			list = append(list, f.Function)
		}
		found = found || f.Function == deepest
	}
	return list
}
