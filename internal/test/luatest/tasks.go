//go:build linux

// Package luatest holds the coroutines of programs in Lua against what Lua's own functions tell.
package luatest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target/live"
)

// coroutine is what the oracle has written of one.
type coroutine struct {
	status string
	calls  [][]string // "C" or "Lua" or "main", source, line, where the function begins, what its name is, its name
}

// told returns the coroutines that the oracle has written, by address.
func told(text string) map[string]*coroutine {
	all, last := map[string]*coroutine{}, &coroutine{}
	for line := range strings.Lines(text) {
		switch f := strings.Split(strings.TrimRight(line, "\n"), "\t"); f[0] {
		case "coroutine":
			last = &coroutine{status: f[2]}
			all[f[1]] = last
		case "call":
			last.calls = append(last.calls, f[1:])
		}
	}
	return all
}

// tasksOf lists the coroutines of a process.
func tasksOf(t *testing.T, pid int, d language.Decorator) []language.Task {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	return languagetest.Tasks(t, tg, d)
}

// sameCall reports whether a frame is a call.
func sameCall(f *language.Frame, call []string) bool {
	if !sameName(f.Function, call[4], call[5]) {
		return false
	}
	if call[0] == "C" {
		return strings.HasPrefix(f.Kind, "native")
	}
	source := strings.TrimLeft(call[1], "@=")
	return !strings.HasPrefix(f.Kind, "native") && f.File == source && fmt.Sprint(f.Line) == call[2]
}

// sameName reports whether a function is called what its caller calls it, or as it is in a table of
// package.loaded.
func sameName(function, what, name string) bool {
	if what == "metamethod" {
		name = "__" + strings.TrimPrefix(name, "__")
	}
	if function == "work" || function == "coroutine.yield" || function == "coroutine.resume" {
		return true
	}
	if name == "" || name == "?" {
		return strings.HasPrefix(function, "function <") || strings.HasPrefix(function, "C function ") || strings.Contains(function, ".")
	}
	return function == name || strings.HasSuffix(function, "."+name)
}

// Tasks stops a program with many coroutines at random moments. They are the ones that Lua's own
// functions tell at the same moment, in the same states and with the same calls. start starts the
// program, whose handler of a signal writes what these tell: a line "coroutine", address, status
// for each, and for each call of one that does not run a line "call", "C" or another word, source,
// line, the line where the function begins, what its name is, and its name; there are tabs between
// them.
func Tasks(t *testing.T, d language.Decorator, start func() *languagetest.Told) {
	t.Helper()
	stops := 30
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	p, seen, frames, moments, deaths := start(), map[string]int{}, 0, 0, 0
	for range stops {
		var list []language.Task
		text := p.AtRandom(t, func() { list = tasksOf(t, p.PID, d) })
		if text == "" {
			p, deaths = start(), deaths+1
			continue
		}
		want := told(text)
		inner := "" // the coroutine that runs, as sfwalk says
		for i := range list {
			task := &list[i]
			id := fmt.Sprintf("%#x", task.ID)
			w := want[id]
			delete(want, id)
			if w == nil && len(task.Frames) == 0 && task.State == "suspended" {
				moments++ // it has been made, and not been noted
				continue
			}
			if w != nil && task.State == "running" && w.status == "normal" {
				moments++ // it is just about to resume another one, or has done so
				inner = id
				continue
			}
			if w == nil || w.status != task.State || task.Early != "" || len(task.Frames) != len(w.calls) || task.Kind != "coroutine" {
				t.Errorf("%s is %+v; Lua says: %+v", id, *task, w)
				continue
			}
			if task.State == "running" {
				inner = id
			}
			switch running := task.State == "running" || task.State == "normal"; {
			case task.State == "running" && task.Thread == 0:
				moments++ // it has just failed, and is in no protected call any more
			case running != (task.Thread == p.PID):
				t.Errorf("%s is %s in thread %d", id, task.State, task.Thread)
			}
			seen[task.State]++
			for i := range w.calls {
				if frames++; !sameCall(&task.Frames[i], w.calls[i]) {
					t.Errorf("%s, frame %d is %+v, Lua says: %q", id, i, task.Frames[i], w.calls[i])
				}
			}
		}
		if len(want) > 0 {
			t.Errorf("missing: %v of\n%s", want, text)
		}
		switch {
		case inner != "":
			chain(t, list, inner)
		case slices.ContainsFunc(list, func(task language.Task) bool { return task.State == "normal" }):
			moments++ // the one that runs has not begun yet, or has just ended
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d stops, coroutines %v, %d frames, %d in the middle of a call, %d deaths", stops, seen, frames, moments, deaths)
	// One stop of forty is in the middle of a call: few stops have several at times.
	if most := 5 + stops/20; moments > most || deaths > most || seen["suspended"] < stops || seen["normal"] == 0 || seen["running"] == 0 {
		t.Error("there are too many of these, or too few coroutines")
	}
}

// chain holds that all coroutines that have resumed others wait for these, up to the one that runs.
func chain(t *testing.T, list []language.Task, inner string) {
	t.Helper()
	waits := 0
	for at := inner; at != ""; {
		i := slices.IndexFunc(list, func(task language.Task) bool { return fmt.Sprintf("%#x", task.ID) == at })
		if at = ""; i >= 0 && len(list[i].AwaitedBy) == 1 {
			at = fmt.Sprintf("%#x", list[i].AwaitedBy[0])
			waits++
		}
	}
	for _, task := range list {
		if task.State == "normal" {
			waits--
		}
	}
	if waits != 0 {
		t.Errorf("%d coroutines are not in the chain of the ones that wait: %+v", -waits, list)
	}
}
