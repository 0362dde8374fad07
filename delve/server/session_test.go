//go:build linux && (amd64 || arm64)

package server_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

var update = flag.Bool("update", false, "write testdata/session.txt and values.txt anew")

// session is one that the guide shows: the user's command in a terminal, and dlv's commands.
type session struct {
	typed    []string
	commands []string
}

// sessions are about stacks.
var sessions = []session{
	{[]string{"$ dlv attach 4242"}, []string{"goroutine 1", "stack", "exit -d"}},
	{
		[]string{"$ sfwalk dlv attach 4242", "API server listening at: 127.0.0.1:38697", "", "$ dlv connect 127.0.0.1:38697"},
		[]string{"goroutine 1", "stack", "frame 2 locals", "frame 8", "print p", "up", "locals", "exit -d"},
	},
}

// valueSessions is a session about variables.
var valueSessions = []session{
	{
		[]string{"$ dlv connect 127.0.0.1:38697"},
		[]string{"goroutine 1", "frame 5 args", "frame 5 locals", "frame 5 print all", "frame 2 print numbers", "frame 4 print color", "frame 4 whatis by_value", "exit -d"},
	},
}

// TestSession checks the guide's sessions, testdata/session.txt and values.txt, against the real
// dlv.
func TestSession(t *testing.T) {
	checkSessions(t, startCgo(t), "delvecgo", "session.txt", sessions)
	checkSessions(t, gdbtest.StartRunning(t, buildValues(t, "-O0")), "delvevalues", "values.txt", valueSessions)
}

func checkSessions(t *testing.T, p *gdbtest.Process, program, name string, sessions []session) {
	inside := inPause(t, p)
	golden := gdbtest.Testdata(t, "..", "delve", "server", "testdata", name)
	t.Chdir(gdbtest.Testdata(t, "progs", program)) // dlv shortens paths
	var text strings.Builder
	for i, s := range sessions {
		ours := s.typed[0] != "$ dlv attach 4242"
		if i > 0 {
			text.WriteString("\n")
		}
		with := []string{"attach", strconv.Itoa(p.PID)}
		commands := slices.Clone(s.commands)
		if ours {
			with = []string{"connect", attach(t, p, false).addr}
			for j, c := range commands {
				commands[j] = renumber(c, inside)
			}
		}
		said := dlv(t, commands, with...)
		fmt.Fprintln(&text, strings.Join(s.typed, "\n"))
		fmt.Fprintln(&text, "Type 'help' for list of commands.")
		for j, command := range commands {
			said := fmt.Sprintf("(dlv) %s\n%s", command, said[j])
			if ours {
				said = renumber(inner.ReplaceAllString(said, ""), -inside)
			}
			text.WriteString(said)
		}
	}
	got := regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAllString(text.String(), "")
	got = strings.ReplaceAll(got, "\t", "    ")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := lasting(got), lasting(string(want)); got != want {
		t.Errorf("the session has changed (-update writes it anew):\n%s\nwant\n%s", got, want)
	}
}

// inPause returns how many frames of the C library are inside pause. Older releases have none. The
// frames have no names where the library's debug file is not installed.
func inPause(t *testing.T, p *gdbtest.Process) int {
	t.Helper()
	stack := stackOf(dlv(t, []string{"goroutine 1", "stack", "exit -d"}, "connect", attach(t, p, false).addr)[1])
	n := slices.IndexFunc(stack, func(f frame) bool { return strings.HasSuffix(f.function, "pause") })
	if n < 0 {
		t.Fatalf("no frame is in pause: %v", stack)
	}
	return n
}

var (
	inStack  = regexp.MustCompile(`(?m)^ *\d+  0x`)
	byNumber = regexp.MustCompile(`\b[Ff]rame \d+`)
	digits   = regexp.MustCompile(`\d+`)
	inner    = regexp.MustCompile(`(?m)^ *\d+  0x\S+ in (\?\?\?|C\.__(internal_)?syscall_cancel(_arch)?)\n.*\n`)
)

// renumber adds n to the numbers of frames in dlv's text.
func renumber(text string, n int) string {
	number := func(s string) int {
		was, _ := strconv.Atoi(digits.FindString(s))
		return was + n
	}
	text = inStack.ReplaceAllStringFunc(text, func(s string) string { return fmt.Sprintf("%*d  0x", len(s)-len("  0x"), number(s)) })
	return byNumber.ReplaceAllStringFunc(text, func(s string) string { return fmt.Sprintf("%s %d", s[:len("frame")], number(s)) })
}

// lasting removes from a session all that differs elsewhere: addresses, numbers of threads, the C
// library, and the folder of Go.
func lasting(text string) string {
	for _, r := range [][2]string{
		{`0x[0-9a-f]+`, "0x"}, {`PC: [0-9a-f]+`, "PC"}, {`Switched from \d+ to`, "Switched to"}, {`thread \d+`, "thread"},
		{`C\.\w*pause\n.*`, "C.pause"}, {`/\S*/src/runtime/(\S+):\d+`, "$1"}, {`_cgo_[0-9a-f]{12}`, "_cgo"}, {`\S*cgo-gcc-prolog:\d+`, "cgo"}, {`_cgo_gotypes.go:\d+`, "_cgo"},
		{`Stopped at: .*|> .*pause.*`, "Stopped"},
		{`Warning: listing may not match.*\n`, ""}, // for sources that were checked out after the program was built
	} {
		text = regexp.MustCompile(r[0]).ReplaceAllString(text, r[1])
	}
	return text
}
