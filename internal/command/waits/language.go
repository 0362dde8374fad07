package waits

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/language"
)

// Told is what one language knows of a thread.
type Told struct {
	Language  string `json:"language"`
	Name      string `json:"name,omitempty"`
	State     string `json:"state,omitempty"`
	Exception string `json:"exception,omitempty"` // that is being handled, or was raised last
	Waits     []Lock `json:"waits,omitempty"`
	Holds     []Lock `json:"holds,omitempty"`
}

// Lock is a lock of a language.
type Lock struct {
	Kind    string       `json:"kind"`
	Name    string       `json:"name,omitempty"`
	Address *address.Hex `json:"address,omitempty"`
	Owner   int          `json:"owner,omitempty"`
	Timed   bool         `json:"timed,omitempty"`
	Ends    bool         `json:"ends,omitempty"` // it is the end of its owner

	owner string // the owner's name
	frame bool   // a frame of the language has it
}

// NewTold returns what languages know of a thread. w tells more of locks' owners, if it has the
// thread.
func (w *Graph) NewTold(tid int, list []language.Told) (told []Told) {
	if w != nil && w.told != nil {
		if told, ok := w.told[tid]; ok {
			return told
		}
	}
	for i := range list {
		t := &list[i]
		if t.Name == "" && t.State == "" && t.Exception == "" && len(t.Waits) == 0 && len(t.Holds) == 0 {
			continue
		}
		x := Told{t.Language, t.Name, t.State, t.Exception, Locks(t.Waits), Locks(t.Holds)}
		for j := range x.Waits {
			x.Waits[j].Owner = w.holderOf(x.Waits[j].Owner)
		}
		told = append(told, x)
	}
	return told
}

// Locks returns locks of a language as they are printed.
func Locks(list []language.Lock) (locks []Lock) {
	for i := range list {
		l := &list[i]
		x := Lock{Kind: l.Kind, Name: l.Name, Owner: l.Owner, Timed: l.Timed, Ends: l.Ends, frame: l.Level >= 0}
		if l.Address != 0 {
			x.Address = new(address.At(l.Address))
		}
		locks = append(locks, x)
	}
	return locks
}

// String returns the lock in words: "the monitor 0x7f… (<com.example.Queue>)".
func (l *Lock) String() string {
	text := "the " + l.Kind
	if l.Ends {
		text = "the end of " + text
	}
	if l.Address != nil {
		text += fmt.Sprintf(" %#x", l.Address.V)
	}
	if l.Name != "" {
		text += " (" + l.Name + ")"
	}
	return text
}

// link is a wait for the lock within a deadlock.
func (l *Lock) link() string {
	if l.Ends {
		return l.by(fmt.Sprintf("thread %d", l.Owner))
	}
	return l.by(strconv.Itoa(l.Owner))
}

// by returns the lock in words, with the thread that has it.
func (l *Lock) by(thread string) string {
	if l.Ends {
		return "the end of " + thread
	}
	return l.String() + ", held by " + thread
}

// About returns what the language calls the thread, and what the thread does: `"worker-1", has the
// GIL`; "" if neither is known. name is the system's name for the thread.
func (t *Told) About(name string) string {
	state := t.Does()
	switch {
	case state == "" && t.Name == name:
		return ""
	case t.Name == "":
		return state
	case state == "":
		return strconv.Quote(t.Name)
	}
	return strconv.Quote(t.Name) + ", " + state
}

// Does returns the state without what [Told.Lines] say better: for which lock the thread waits.
func (t *Told) Does() string {
	var parts []string
	for _, part := range strings.Split(t.State, ", ") {
		if !slices.ContainsFunc(t.Waits, func(l Lock) bool { return part == "waits for the "+l.Kind }) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// Lines returns for what the thread waits in the language, what it holds, and its exception, each
// line behind a verb: "waits for the GIL, held by thread 4243". all is false to leave out locks
// that stand at frames.
func (t *Told) Lines(all bool) (lines []string) {
	for i := range t.Waits {
		l := &t.Waits[i]
		text := "waits for "
		if l.Timed {
			text = "waits, with a timeout, for "
		}
		switch {
		case l.Owner != 0 && l.owner != "":
			text += l.by(fmt.Sprintf("thread %d %q", l.Owner, l.owner))
		case l.Owner != 0:
			text += l.by(fmt.Sprintf("thread %d", l.Owner))
		default:
			text += l.String()
		}
		lines = append(lines, text)
	}
	for i := range t.Holds {
		// What the state says needs no other line: "has the GIL".
		l := &t.Holds[i]
		if said := slices.Contains(strings.Split(t.State, ", "), "has the "+l.Kind); !said && (all || !l.frame) {
			lines = append(lines, "holds "+l.String())
		}
	}
	if t.Exception != "" {
		lines = append(lines, "has the exception "+t.Exception)
	}
	return lines
}

// tell adds what languages know of all threads: who holds the locks for which others wait.
func (w *Graph) tell(by map[int][]language.Told, names map[int]string) {
	type key struct {
		language, kind string
		address        uint64
	}
	told, holders := map[int][]Told{}, map[key]int{}
	for tid, list := range by {
		x := w.NewTold(tid, list)
		if len(x) == 0 {
			continue
		}
		told[tid] = x
		for i := range x {
			if x[i].Name != "" {
				names[tid] = x[i].Name
			}
			for j := range x[i].Holds {
				if l := &x[i].Holds[j]; l.Address != nil {
					holders[key{x[i].Language, l.Kind, l.Address.V}] = tid
				}
			}
		}
	}
	for _, list := range told {
		for i := range list {
			for j := range list[i].Waits {
				l := &list[i].Waits[j]
				if l.Address != nil {
					if tid, ok := holders[key{list[i].Language, l.Kind, l.Address.V}]; ok {
						l.Owner = tid
					}
				}
				l.owner = names[l.Owner]
			}
		}
	}
	w.told = told
}

// Suspected returns the cycles of threads that wait for each other by what languages know of them,
// where the threads are not of one moment: they may be deadlocks. own is [Options.OwnThreads].
func Suspected(told map[int][]language.Told, own func() map[int]int) []Deadlock {
	w := Unrelated(own)
	w.tell(told, map[int]string{})
	w.findDeadlocks(slices.Collect(maps.Keys(told)))
	return w.Deadlocks
}
