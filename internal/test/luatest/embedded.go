//go:build linux

package luatest

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
)

// Embedded is a script for a program that has Lua in it: its local function main comes to a loop
// that never ends. The program's own way to write a line stands before it (say), and whether no
// function of C may be called that calls functions of Lua (plain).
//
//go:embed embedded.lua
var Embedded string

// spins matches what the script has written: the functions below the loop, and below the coroutine
// of these.
var spins = regexp.MustCompile(`(?:resumes (.*)\n(?s:.*))?spins (.*)\n`)

// Spins stops a program in the loop of [Embedded] at random moments. Its frames are the ones that
// the script has written to a file before. parked says that the program itself resumes the
// coroutine: then the one that wanted that waits for it, and is on no stack.
func Spins(t *testing.T, d language.Decorator, p *gdbtest.Process, file string, parked bool) {
	t.Helper()
	var told []string
	gdbtest.Await(t, "the script has written where it spins", func() bool {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		told = spins.FindStringSubmatch(string(text))
		return told != nil
	})
	want, outer := strings.Fields(told[2]), append([]string{"C="}, strings.Fields(told[1])...)
	if len(outer) > 1 {
		for want[len(want)-1] == "C=" { // beyond the coroutine's end: it begins with a function of Lua
			want = want[:len(want)-1]
		}
		if !parked {
			want = append(want, outer...)
		}
	}
	const stops = 20
	seen, waits, none := 0, 0, 0
	for range stops {
		p.Stop(t)
		var frames []language.Placed
		for _, th := range languagetest.Attach(t, p.PID, d, nil) {
			if w := th.Warnings(); len(w) > 0 {
				t.Errorf("%q", w)
			}
			frames = append(frames, th.Frames()...)
		}
		if len(frames) == 0 { // the program may have suspended it meanwhile
			for _, task := range tasksOf(t, p.PID, d) {
				if list := inLoop(placed(task.Frames)); len(list) > 0 && task.State == "suspended" {
					frames = list
					waits++
				}
			}
		}
		p.Continue(t)
		if len(frames) == 0 {
			none++ // it is just being suspended or resumed
			continue
		}
		frames = inLoop(frames)
		if wrong := compare(frames, want); wrong != "" {
			t.Fatalf("%s: %+v, want %q", wrong, frames, want)
		}
		seen += len(frames)
	}
	t.Logf("%d stops, %d frames, suspended at %d stops, none at %d", stops, seen, waits, none)
	if parked {
		holdsParked(t, tasksOf(t, p.PID, d), outer)
	}
	if none > 2 {
		t.Error("there are too many without frames")
	}
}

func placed(list []language.Frame) (frames []language.Placed) {
	for _, f := range list {
		frames = append(frames, language.Placed{Frame: f})
	}
	return frames
}

// inLoop returns the frames from the loop on, without what that has called.
func inLoop(frames []language.Placed) []language.Placed {
	for len(frames) > 0 && frames[0].Function != "spin" {
		frames = frames[1:]
	}
	return frames
}

// holdsParked holds that one of the tasks waits with some frames.
func holdsParked(t *testing.T, list []language.Task, want []string) {
	t.Helper()
	for _, task := range list {
		frames := placed(task.Frames)
		if task.State == "suspended" && len(frames) == len(want) && compare(frames, want) == "" {
			return
		}
	}
	t.Errorf("no coroutine waits at %q: %+v", want, list)
}

// compare says what is wrong with frames.
func compare(frames []language.Placed, want []string) string {
	for i, w := range want {
		place, name, _ := strings.Cut(w, "=")
		rest := strings.Trim(strings.Join(want[i:], ""), "C=") == "" // an error does not tell whether there is a function of C
		switch {
		case i == len(frames) && rest:
			return ""
		case i == len(frames):
			return "frames are missing"
		}
		f := &frames[i].Frame
		got := "C"
		if !strings.HasPrefix(f.Kind, "native") {
			got = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if i == 0 && got != "C" { // the innermost line is another one now
			got, place = f.File, place[:strings.LastIndexByte(place, ':')]
		}
		if got != place {
			return fmt.Sprintf("frame %d is at %s", i, got)
		}
		if name != "" && name != "?" && strings.TrimPrefix(f.Function, "__") != strings.TrimPrefix(name, "__") && !strings.HasSuffix(f.Function, "."+name) {
			return fmt.Sprintf("frame %d is called %s", i, f.Function)
		}
	}
	return ""
}
