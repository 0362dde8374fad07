package dotnet_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/dotnet"
)

const (
	slots    = 64
	slotSize = 64 << 10
	deepest  = "Stops.Deep.Deepest"
)

// TestStops stops testdata/stops.cs at random moments. Each of its threads that says what .NET says
// of its stack has these frames, with their lines.
func TestStops(t *testing.T) {
	stops := 20
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	for _, d := range dotnets(t) {
		t.Run(d.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "slots")
			if err := os.WriteFile(name, make([]byte, slots*slotSize), 0o600); err != nil {
				t.Fatal(err)
			}
			p := d.start(t, "stops.dll", name, "3")
			seen, frames := 0, 0
			peer := languagetest.NewPeer(t)
			for seen < stops && !t.Failed() {
				for range rand.N(100) {
					p.States(t) // it runs meanwhile
				}
				p.Stop(t)
				got := languagetest.Attach(t, p.PID, dotnet.Decorator{}, nil)
				for tid, want := range said(t, name) {
					if th := got[tid]; th != nil {
						peer.Compare(methods(want), methods(names(languagetest.Calls(th.Frames()))), methods(names(peer.Calls(t, p.PID, tid))))
						compare(t, th, want)
						seen, frames = seen+1, frames+len(want)
					}
				}
				for _, th := range got {
					whole(t, th)
				}
				p.Continue(t)
			}
			t.Logf("%d stacks, %d frames", seen, frames)
		})
	}
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

// spoken is a line of .NET's traces.
var spoken = regexp.MustCompile(`^   at ([^(]+)\(.*?\)(\+MoveNext\(\))?(?: in (.*):line (\d+))?$`)

// parse returns the frames of a trace that are outside of the innermost place.
func parse(text string) (list []string) {
	_, text, _ = strings.Cut(text, "at "+deepest+"(")
	_, text, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		m := spoken.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			list = append(list, "cannot be parsed: "+line)
			continue
		}
		frame := m[1]
		if strings.HasPrefix(frame, "Stops.Native.") || strings.Contains(frame, ">g____PInvoke|") {
			continue // a native function: its frames are the process's own
		}
		if m[4] != "" {
			frame += fmt.Sprintf(" %s:%s", m[3], m[4])
		}
		list = append(list, frame)
	}
	return list
}

// names returns the functions of calls.
func names(calls []languagetest.Call) (list []string) {
	for _, c := range calls {
		list = append(list, c.Function)
	}
	return list
}

// methods returns frames in the form in which tools are compared: others have no files.
func methods(list []string) (all []languagetest.Call) {
	for _, f := range list {
		name, _, _ := strings.Cut(f, " ")
		all = append(all, languagetest.Call{Function: name, File: "."})
	}
	return all
}

// compare compares the frames of a thread with what .NET says. It returns for how many of them .NET
// says no line.
func compare(t *testing.T, th *languagetest.Thread, want []string) (unsaid int) {
	t.Helper()
	var got, all []string
	found := false
	for _, f := range th.Frames() {
		text := f.Function
		if i := len(got); found && (f.Kind == "handler" || f.Kind == "filter" || f.Guess) && i < len(want) {
			want[i], _, _ = strings.Cut(want[i], " ") // .NET says where the body is, and where the method begins for code of no place
		} else if found && i < len(want) && want[i] == text {
			unsaid++ // .NET finds no line
		} else if f.Line != 0 {
			text += fmt.Sprintf(" %s:%d", f.File, f.Line)
		}
		all = append(all, text)
		if found {
			got = append(got, text)
		}
		found = found || f.Function == deepest
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("thread %d:\n%s\n.NET says:\n%s", th.Stack.Thread.ID(), strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
	return unsaid
}

// whole holds that the stack of a thread is known up to its outermost frame.
func whole(t *testing.T, th *languagetest.Thread) {
	t.Helper()
	if !th.Stack.Whole {
		t.Errorf("thread %d is not whole:\n%s", th.Stack.Thread.ID(), physical(th))
	}
	if w := th.Warnings(); len(w) > 0 {
		t.Errorf("thread %d: %q", th.Stack.Thread.ID(), w)
	}
}

func physical(th *languagetest.Thread) string {
	var text strings.Builder
	for _, f := range th.Stack.Frames {
		fmt.Fprintf(&text, "%d %#x %s", f.Level, f.PC(), f.Sniffer())
		if m := f.Module(); m != nil {
			fmt.Fprintf(&text, " %s+%#x", filepath.Base(m.Path), f.PC()-m.Lo())
		}
		text.WriteByte('\n')
	}
	fmt.Fprintln(&text, th.Stack.Frames[len(th.Stack.Frames)-1].StopReason())
	return text.String()
}
