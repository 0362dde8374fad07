package hints

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Line is one hint.
type Line struct {
	kind   kind
	files  []string // whose functions have no names; or threads that wait
	remedy string   // what helps
}

// kind is what a hint is about.
type kind uint8

const (
	missingFiles   kind = iota // files of another machine's process
	missingProgram             // the file of its program alone
	lackingSymbols             // the system's files have none
	withoutSymbols             // and files that somebody has built
	atRunTime                  // code that is interpreted, or made at run time
	waiting                    // threads wait for locks
	waitingEnds                // or for each other's end
	deadlocked                 // threads seem to be in a deadlock
)

// String returns the text of a hint, without a newline.
func (l Line) String() string {
	switch l.kind {
	case missingFiles:
		return fmt.Sprintf("functions have no names, for these files are not here: %s: give %s", named(l.files), l.remedy)
	case missingProgram:
		return fmt.Sprintf("functions of %s have no names, for the file is not here: give it by %s", l.files[0], l.remedy)
	case lackingSymbols:
		return fmt.Sprintf("functions of %s have no names: %s", named(l.files), l.remedy)
	case waiting, waitingEnds:
		one, several := "", ""
		if l.kind == waitingEnds {
			one, several = " or the end of another thread", " or the end of other threads"
		}
		if len(l.files) == 1 {
			return "1 thread waits for a lock" + one + ": " + l.remedy + " it"
		}
		return fmt.Sprintf("%d threads wait for locks%s: %s them", len(l.files), several, l.remedy)
	case deadlocked:
		return fmt.Sprintf("threads %s seem to be in a deadlock: %s", named(l.files), l.remedy)
	case withoutSymbols:
		if len(l.files) == 1 {
			return l.files[0] + " has no symbols: build it with -g and keep its symbols, or give the folder of its debug file by --debug-dir"
		}
		return named(l.files) + " have no symbols: build them with -g and keep their symbols, or give the folder of their debug files by --debug-dir"
	}
	return fmt.Sprintf("%s have no names: %s", l.files[0], l.remedy)
}

// fewNamed is how many files a line names before it counts the rest.
const fewNamed = 4

// named writes a list of files.
func named(files []string) string {
	if more := len(files) - fewNamed; more > 0 {
		return strings.Join(files[:fewNamed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(files, ", ")
}

// Together are the hints of several processes, or of several rounds: one line for each remedy. It
// is safe for concurrent use. Its zero value has none.
type Together struct {
	mu    sync.Mutex
	lines []Line
}

// Bounds of what is kept of several processes.
const (
	maxLines = 32
	maxFiles = 1 << 12 // of one line
)

// Add adds the hints of a process.
func (t *Together) Add(list []Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range list {
		i := slices.IndexFunc(t.lines, func(x Line) bool {
			return x.kind == l.kind && (x.remedy == l.remedy && l.kind != atRunTime && l.kind != missingProgram || slices.Equal(x.files, l.files))
		})
		switch {
		case i < 0 && len(t.lines) < maxLines:
			t.lines = append(t.lines, Line{l.kind, slices.Clone(l.files), l.remedy})
		case i < 0:
		default:
			for _, file := range l.files {
				if x := &t.lines[i]; len(x.files) < maxFiles && !slices.Contains(x.files, file) {
					x.files = append(x.files, file)
				}
			}
		}
	}
}

// Lines returns all hints.
func (t *Together) Lines() []Line {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lines
}
