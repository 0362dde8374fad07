package stacks_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// came is what a handler of received.c has printed of its signal: "came NUMBER CODE ADDRESS PID
// STATUS CALL", or "came NUMBER" if it has no SA_SIGINFO.
type came struct {
	number, code, pid, status, call int
	address                         uint64
	informed                        bool
}

func readCame(t *testing.T, line string) (c came) {
	t.Helper()
	n, _ := fmt.Sscanf(line, "came %d %d %v %d %d %d", &c.number, &c.code, &c.address, &c.pid, &c.status, &c.call)
	if n != 1 && n != 6 {
		t.Fatalf("received says %q", line)
	}
	c.informed = n == 6
	return c
}

// shownSignal is a signal in JSON.
type shownSignal struct {
	Number, Sender, Child int
	Name, Code, Address   string
	Status                *int
	SystemCall            *int `json:"system_call"`
}

// differs says how what is shown differs from what came; "" if it does not.
func (c *came) differs(s *shownSignal) string {
	const sigsegv, sigbus = 11, 7
	fault := c.code > 0 && c.code != 0x80 && (c.number == 4 || c.number == sigbus || c.number == 8 || c.number == sigsegv || c.number == 31)
	sent := c.code == 0 || c.code == -1 || c.code == -6
	switch address := fmt.Sprintf("%#x", c.address); {
	case s == nil:
		return "no signal"
	case s.Number != c.number:
		return fmt.Sprintf("number %d", s.Number)
	case !c.informed:
		return ""
	case fault != (s.Address != "") || fault && s.Address != address:
		return "address " + s.Address
	case sent != (s.Sender != 0) || sent && s.Sender != c.pid:
		return fmt.Sprintf("sender %d", s.Sender)
	case c.number == 17 && (s.Child != c.pid || s.Status == nil || *s.Status != c.status):
		return fmt.Sprintf("child %d", s.Child)
	case c.number == 31 && (s.SystemCall == nil || *s.SystemCall != c.call):
		return "no system call"
	}
	return ""
}

// signalsIn returns the signals of a document's first thread's signal frames, the innermost first.
func signalsIn(t *testing.T, doc string) (list []*shownSignal) {
	t.Helper()
	var d struct {
		Threads []struct {
			Frames []struct {
				Type   string
				Signal *shownSignal
			}
		}
	}
	if err := json.Unmarshal([]byte(doc), &d); err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Threads[0].Frames {
		if f.Type == "sigtramp" {
			list = append(list, f.Signal)
		} else if f.Signal != nil {
			t.Errorf("a frame of type %s has a signal", f.Type)
		}
	}
	return list
}

// TestReceived compares what signal frames show with what the handlers themselves have got: of the
// process, and of its snapshot. Of a handler without SA_SIGINFO, the number is shown, and the
// address of a fault: null's is always 0x10.
func TestReceived(t *testing.T) {
	program := gdbtest.Build(t, "received.c", "-g", "-O1", "-w")
	for _, cause := range strings.Fields("null readonly far jump end divide illegal raise sent queue timer child call nested then") {
		flags := []string{"", "plain"}
		if cause == "null" || cause == "then" || cause == "raise" {
			flags = append(flags, "alt", "plain alt", "full", "nodefer", "plain full", "plain nodefer")
		}
		if cause == "null" || cause == "far" || cause == "readonly" || cause == "divide" || cause == "illegal" {
			flags = append(flags, "full unblock")
		}
		for _, f := range flags {
			t.Run(cause+" "+f, func(t *testing.T) { received(t, program, cause, f, true) })
		}
	}
}

// TestReceivedElsewhere does so with programs of musl, static ones, and 32-bit ones.
func TestReceivedElsewhere(t *testing.T) {
	causes := []string{"null", "end", "raise", "nested", "then", "call"}
	t.Run("musl", func(t *testing.T) {
		program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "received.c"), gdbtest.Tool(t, "musl-gcc"), "-g", "-O1", "-w", "-static")
		for _, cause := range causes {
			received(t, program, cause, "", true)
			received(t, program, cause, "plain", true)
		}
	})
	t.Run("i386", func(t *testing.T) {
		program := gdbtest.Build386(t, "received.c", "-g", "-O1", "-w")
		for _, cause := range causes {
			for _, flags := range []string{"", "plain", "plain nodefer", "plain full"} {
				if cause != "nested" || flags != "plain full" { // that dies
					received(t, program, cause, flags, false) // the frame always has the number
				}
			}
		}
	})
}

// received compares the signal frames of one process. byMask says that a signal without siginfo_t
// is known by what is blocked: of a handler that blocks all signals, or none, only the interrupted
// instruction can tell, which an earlier fault does not fit.
func received(t *testing.T, program, cause, flags string, byMask bool) {
	t.Helper()
	p := gdbtest.Start(t, program, append([]string{cause}, strings.Fields(flags)...)...)
	handlers := 1
	if cause == "nested" || cause == "then" {
		handlers = 2
	}
	var want []came
	for range handlers {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		want = append([]came{readCame(t, line)}, want...)
	}
	if cause == "then" {
		want = want[:1] // the program has left the handler of the first
	}
	mayLack := byMask && cause != "null" && (strings.Contains(flags, "full") || strings.Contains(flags, "nodefer"))
	check := func(where, doc string) {
		t.Helper()
		where = cause + " " + flags + ": " + where
		list := signalsIn(t, doc)
		if len(list) != len(want) {
			t.Errorf("%s: %d signal frames, want %d", where, len(list), len(want))
			return
		}
		for i := range want {
			s := list[i]
			if s == nil && !want[i].informed && mayLack {
				continue
			}
			if why := want[i].differs(s); why != "" {
				t.Errorf("%s: signal %d: %s; came %+v, shown %+v", where, i, why, want[i], s)
				continue
			}
			if want[i].number == 11 && (cause == "null" || cause == "nested") && s.Address != "0x10" {
				t.Errorf("%s: %+v, want address 0x10", where, s)
			}
			if cause == "sent" && s.Address != "" {
				t.Errorf("%s: a signal that kill(2) has sent has the address %s", where, s.Address)
			}
		}
	}
	pid := fmt.Sprint(p.PID)
	saved := filepath.Join(t.TempDir(), "saved")
	run := func(args ...string) string {
		t.Helper()
		out, errOut, err := commandtest.Run(args...)
		if err != nil {
			t.Fatalf("%q: %v\n%s\n%s", args, err, errOut, out)
		}
		return out
	}
	out := run("attach", pid, "--json")
	commandtest.InPage(t, "sfwalk attach", out)
	check("attach", out)
	run("attach", pid, "--save", saved)
	check("open", run("open", saved, "--json"))
}

var dead = regexp.MustCompile(`^Process (\d+) \(.*\) died of (.*)\n`)

// TestDiedInHandler: the first line of a core says what the handler was called for that has ended
// the process.
func TestDiedInHandler(t *testing.T) {
	program := gdbtest.Build(t, "received.c", "-g", "-O1", "-w")
	for _, tt := range []struct{ args, want string }{
		{"null abort", "SIGABRT, raised in the handler of SIGSEGV at 0x10"},
		{"null plain abort", "SIGABRT, raised in the handler of SIGSEGV at 0x10"},
		{"null full abort", "SIGABRT, raised in the handler of SIGSEGV at 0x10"},
		{"far abort", "SIGABRT, raised in the handler of SIGSEGV at an unknown address"},
		{"null alt abort", "SIGABRT, raised in the handler of SIGSEGV at 0x10"},
		{"null reraise", "SIGSEGV, raised in the handler of SIGSEGV at 0x10"},
		{"null plain reraise", "SIGSEGV, raised in the handler of SIGSEGV at 0x10"},
		{"null plain nodefer abort", "SIGABRT, raised in the handler of SIGSEGV at 0x10"},
		{"far plain full abort", "SIGABRT, raised in the handler of SIGSEGV at an unknown address"},
		{"raise plain full abort", "SIGABRT, raised in a signal handler"},
		{"raise plain abort", "SIGABRT, raised in the handler of SIGUSR1"},
		{"raise abort", "SIGABRT, raised in the handler of SIGUSR1 from PID $PID"},
		{"nested abort", "SIGABRT, raised in the handler of SIGSEGV at 0x10, in the handler of SIGUSR1 from PID $PID"},
		{"often nodefer abort", "SIGABRT, raised in the handler of SIGSEGV at 0x10 (100 times), in the handler of SIGUSR1 from PID $PID"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			core := coreOfCrash(t, program, strings.Fields(tt.args)...)
			out, errOut, err := commandtest.Run("core", core)
			if err != nil {
				t.Fatalf("%v\n%s%s", err, out, errOut)
			}
			m := dead.FindStringSubmatch(out)
			if m == nil || m[2] != strings.ReplaceAll(tt.want, "$PID", m[1]) {
				t.Errorf("got %s\nwant … died of %s", strings.SplitN(out, "\n", 2)[0], tt.want)
			}
			out, _, err = commandtest.Run("core", core, "--json")
			if err != nil {
				t.Fatal(err)
			}
			commandtest.InPage(t, "sfwalk core", out)
			var doc struct{ Handlers []*shownSignal }
			if err := json.Unmarshal([]byte(out), &doc); err != nil {
				t.Fatal(err)
			}
			if list := signalsIn(t, out); fmt.Sprint(values(list)) != fmt.Sprint(values(doc.Handlers)) || len(list) == 0 {
				t.Errorf("handlers %v, frames have %v", values(doc.Handlers), values(list))
			}
			// A minidump of the core has neither the mask nor who sent the signal.
			if !strings.Contains(tt.args, "plain") {
				dump := filepath.Join(t.TempDir(), "x.dmp")
				if _, errOut, err := commandtest.Run("core", core, "--format", "minidump", "--save", dump); err != nil {
					t.Fatalf("%v\n%s", err, errOut)
				}
				out, _, _ := commandtest.Run("minidump", dump)
				if _, in, _ := strings.Cut(m[2], "raised "); !strings.HasSuffix(strings.SplitN(out, "\n", 2)[0], ", "+in) {
					t.Errorf("of the minidump: %s\nwant … %s", strings.SplitN(out, "\n", 2)[0], in)
				}
			}
			// gdb's own word on the signal that the process has died of.
			if said := gdbtest.Batch(t, []string{program, core}, "p $_siginfo.si_signo"); !strings.Contains(said, fmt.Sprintf("= %d\n", map[bool]int{true: 6, false: 11}[strings.HasPrefix(tt.want, "SIGABRT")])) {
				t.Errorf("gdb: %s", said)
			}
		})
	}
}

// values are signals without pointers.
func values(list []*shownSignal) (texts []string) {
	for _, s := range list {
		text, _ := json.Marshal(s)
		texts = append(texts, string(text))
	}
	return texts
}

// TestColoredSignal: the address of a fault has the colour of addresses.
func TestColoredSignal(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "received.c", "-g", "-O1", "-w"), "readonly")
	out, errOut, err := commandtest.Run("attach", fmt.Sprint(p.PID), "--color", "always")
	if err != nil || !regexp.MustCompile("<signal handler called: SIGSEGV at \x1b\\[34m0x[0-9a-f]+\x1b\\[m \\(no permission\\)>").MatchString(out) {
		t.Errorf("%v %s: %q", err, errOut, out)
	}
}

// TestPicturedSignals: in pictures, all signal frames have one name.
func TestPicturedSignals(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "received.c", "-g", "-O1", "-w"), "raise")
	out, errOut, err := commandtest.Run("attach", fmt.Sprint(p.PID), "--format", "folded")
	if err != nil || !strings.Contains(out, ";<signal handler called>;") {
		t.Errorf("%v %s: no stable name of the signal frame:\n%s", err, errOut, out)
	}
}

// TestHandlerOfCrash: a thread whose handler has not ended a crash is named behind the stacks of a
// process, and of its snapshot; handlers of other signals are not.
func TestHandlerOfCrash(t *testing.T) {
	program := gdbtest.Build(t, "received.c", "-g", "-O1", "-w")
	for cause, want := range map[string]string{"null": "\n\nin the handler of SIGSEGV at 0x10: thread $PID \"received\"\n", "raise": ""} {
		pid := fmt.Sprint(gdbtest.Start(t, program, cause).PID)
		saved := filepath.Join(t.TempDir(), "saved")
		if _, errOut, err := commandtest.Run("attach", pid, "--save", saved); err != nil {
			t.Fatalf("%v\n%s", err, errOut)
		}
		for _, args := range [][]string{{"attach", pid}, {"attach", pid, "--merge"}, {"open", saved}} {
			out, errOut, err := commandtest.Run(args...)
			if err != nil || !strings.HasSuffix(out, strings.ReplaceAll(want, "$PID", pid)) || strings.Contains(out, "\nin the handler") != (want != "") {
				t.Errorf("%s: %q: %v\n%s%s", cause, args, err, out, errOut)
			}
		}
	}
}
