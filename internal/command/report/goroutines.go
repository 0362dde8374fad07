package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// goroutineEntry is what is known of a goroutine beside its stack.
type goroutineEntry struct {
	Number   uint64         `json:"number"`
	Runtime  string         `json:"runtime,omitempty"` // which has it, of several in one process
	Status   string         `json:"status"`
	Reason   string         `json:"reason,omitempty"`    // why it waits
	WaitNS   int64          `json:"wait_ns,omitempty"`   // how long it has waited, as the garbage collector has noticed
	TID      int            `json:"tid,omitempty"`       // the thread that runs it
	Labels   labelSet       `json:"labels,omitempty"`    // of runtime/pprof
	WaitsFor []*objectEntry `json:"waits_for,omitempty"` // all cases of a select
	Created  *creation      `json:"created,omitempty"`   // nil for goroutines that the runtime has made at first

	runtime string // a short form of Runtime

	// As of a thread:
	Stop    string `json:"stop"`
	Error   string `json:"error"`
	MovedOn bool   `json:"moved_on,omitempty"`
	Stack   *int   `json:"stack,omitempty"`
}

// labelSet are a goroutine's labels. In JSON they are an object.
type labelSet []goroutine.Label

// MarshalJSON implements [json.Marshaler].
func (s labelSet) MarshalJSON() ([]byte, error) {
	object := make(map[string]string, len(s))
	for _, l := range s {
		object[l.Key] = l.Value
	}
	return json.Marshal(object)
}

// String is the form in which runtime/pprof writes labels: {"handler":"list", "tenant":"blue"}.
func (s labelSet) String() string {
	list := make([]string, len(s))
	for i, l := range s {
		list[i] = fmt.Sprintf("%q:%q", l.Key, l.Value)
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// creation is the go statement that has made a goroutine.
type creation struct {
	Function  string `json:"function"`
	File      string `json:"file"`
	Line      int    `json:"line"`
	Goroutine uint64 `json:"goroutine,omitempty"` // which has executed it
}

// state is what Go's own tracebacks have in brackets: "chan receive, 5 minutes".
func (g *goroutineEntry) state(minutes bool) string {
	state := g.Status
	if g.Reason != "" {
		state = g.Reason
	}
	if n := g.minutes(); minutes && n >= 1 {
		state += fmt.Sprintf(", %d minutes", n)
	}
	return state
}

func (g *goroutineEntry) minutes() int64 { return g.WaitNS / int64(time.Minute) }

// creator returns the number of the goroutine that has created it; 0 if that is not known.
func (g *goroutineEntry) creator() uint64 {
	if g.Created == nil {
		return 0
	}
	return g.Created.Goroutine
}

// goroutineThread is a goroutine as a thread whose stack is walked.
type goroutineThread struct {
	g      *goroutine.Goroutine
	of     *goroutineList
	arch   *arch.Arch
	thread target.Thread // that runs it; nil if it is parked
	memory target.Memory // of thread
	waits  []*objectEntry
}

// waited returns how long it has waited; 0 if that is not known.
func (t *goroutineThread) waited() time.Duration {
	if t.g.Since <= 0 || t.of.now <= t.g.Since {
		return 0
	}
	return time.Duration(t.of.now - t.g.Since)
}

// ID implements [target.Thread]. It is not the number of a thread.
func (t *goroutineThread) ID() int { return int(t.g.Number) }

// Name implements [target.Thread].
func (t *goroutineThread) Name() string { return "" }

// Registers implements [target.Thread].
func (t *goroutineThread) Registers(r *arch.Registers) error {
	switch {
	case t.thread != nil:
		return t.thread.Registers(r)
	case !t.g.Parked():
		return errNoRegisters
	}
	t.g.Registers(t.arch, r)
	return nil
}

var errNoRegisters = errors.New("a thread is about to run it, or just has: its registers are not known")

// StackMemory is the memory in which to walk the stack: see [target.MemoryOf].
func (t *goroutineThread) StackMemory() target.Memory {
	if t.thread == nil {
		return t.of.memory(t.g)
	}
	return t.memory
}

// goroutines is a Source whose goroutines are walked in place of its threads.
type goroutines struct {
	Source
	items   []target.Thread
	asleep  *Asleep // see asleepIn
	missing error   // why some are missing
	unkept  bool    // a snapshot lacks some
}

// Holder is a Source all whose threads can be held while their memory is copied.
type Holder interface {
	target.Target
	Now() target.Memory
	RetakeWith(room int, also func(*live.Held), walk func()) error
	Keep(live.Kept)
}

// Clocked is a Source that was saved while time stood still for it.
type Clocked interface {
	// Clock returns the time by the clock of Go's runtime; 0 if it was saved without goroutines.
	Clock() time.Duration
}

// WithGoroutines returns s with its goroutines in place of its threads. If saved is set, s is saved
// to a file: all that is shown of it has to be there.
func WithGoroutines(s Source, saved bool) (Source, error) {
	if _, ok := s.(*goroutines); ok {
		return s, nil
	}
	noted := &notedReads{Memory: s.Memory()}
	runtimes, missing := goroutine.FindAll(noting{s, noted})
	if len(runtimes) == 0 {
		return nil, fmt.Errorf("--goroutines: %w%s", missing, unsaved(s))
	}
	r := goRuntimes(runtimes)
	var err error
	found := &goroutineList{memory: func(*goroutine.Goroutine) target.Memory { return s.Memory() }}
	if t, ok := s.(Holder); ok {
		if !saved { // what Find has read does not change
			*noted = notedReads{Memory: noted.Memory}
		}
		found, err = hold(t, r, noted, saved)
	} else {
		found.list, err = r.appendAll(nil, s.Memory())
		if t, ok := s.(Clocked); ok {
			found.now = int64(t.Clock())
		}
		found.waits, found.objects = r.waits(s.Memory(), found.list)
	}
	if len(found.list) == 0 && err != nil {
		return nil, fmt.Errorf("--goroutines: %w%s", err, unsaved(s))
	}
	threads, why := s.Threads()
	if why != nil {
		return nil, why
	}
	with := &goroutines{Source: s, missing: errors.Join(missing, err), unkept: found.unkept}
	if with.missing == nil && len(r) == 1 && OneMoment(s) {
		with.asleep = allAsleep(s, found.list, threads)
	}
	found.names = r.names()
	with.items = goroutineThreads(s, found, threads)
	return with, nil
}

// goroutineThreads returns the goroutines of a list as threads.
func goroutineThreads(s Source, found *goroutineList, threads []target.Thread) []target.Thread {
	list := found.list
	out := make([]target.Thread, len(list))
	items := make([]goroutineThread, len(list))
	for i := range list {
		g, x := &list[i], &items[i]
		*x = goroutineThread{g: g, of: found, arch: s.Arch(), waits: objectEntries(found, i)}
		out[i] = x
		if g.Parked() {
			continue
		}
		at := slices.IndexFunc(threads, func(t target.Thread) bool { return t.ID() == g.Thread })
		if at >= 0 {
			x.thread = threads[at]
			if x.memory = target.MemoryOf(s, x.thread); found.running != nil {
				x.memory = found.running(g, x.memory)
			}
		}
	}
	found.waits, found.entries = nil, nil
	return out
}

// After implements [Finisher], for a Source that does.
func (s *goroutines) After(doc *Document) { finish(s.Source, doc) }

// Warnings implements [Source].
func (s *goroutines) Warnings() []string {
	list := s.Source.Warnings()
	if s.missing != nil {
		list = append(list, fmt.Sprintf("some goroutines are missing: %v%s", s.missing, unsaved(s.Source)))
	}
	if s.unkept {
		list = append(list, "--save: there are too many goroutines: 'sfwalk open --goroutines' will miss some")
	}
	return list
}

// mark fills in fields of a thread that stands for the goroutine.
func (t *goroutineThread) mark(th *Thread) {
	name := t.of.names[t.g.Module]
	if th.goroutine == nil {
		th.goroutine = new(goroutineEntry)
	}
	*th.goroutine = goroutineEntry{
		Number: t.g.Number, Runtime: name.whole, runtime: name.short, Status: t.g.Status.String(), Reason: t.g.Reason,
		WaitNS: int64(t.waited()), TID: t.g.Thread, Labels: t.g.Labels, WaitsFor: t.waits,
	}
	th.created, th.creator = t.g.Created, t.g.Creator
	if th.Error == errNoRegisters.Error() {
		th.Whole, th.Detail = true, ""
	}
}

// unsaved returns what to say of a snapshot that may have been saved without goroutines.
func unsaved(s Source) string {
	if t, ok := s.(Clocked); ok && t.Clock() == 0 {
		return ": the snapshot has them if it was saved by attach --goroutines --save"
	}
	return ""
}

// createdBy names the place of a go statement whose call returns to pc.
func createdBy(s Source, symbols *symbol.Symbolizer, pc, creator uint64) *creation {
	if pc == 0 {
		return nil
	}
	at := symbols.Locate(s.Modules(), pc-1)
	if len(at) == 0 {
		return nil
	}
	return &creation{symbol.Truncate(at[0].Function), symbol.Truncate(at[0].File), at[0].Line, creator}
}

// goroutines prints the first line of a goroutine's stack, or of equal ones.
func (p *textPrinter) goroutines(d *Document, g *group) {
	first := g.first.goroutine
	state := first.state(false)
	switch {
	case g.most >= 1 && g.least == g.most:
		state += fmt.Sprintf(", %d minutes", g.most)
	case g.most >= 1:
		state += fmt.Sprintf(", %d to %d minutes", g.least, g.most)
	}
	if g.Count == 1 {
		p.styled(bold, fmt.Sprintf("Goroutine %d [%s]", first.Number, state))
		p.Text(first.of())
		if first.TID != 0 {
			p.Text(fmt.Sprintf(" on thread %d", first.TID))
		}
		p.Byte('\n')
		p.labels(first.Labels)
		p.objects(d, g)
		return
	}
	list := g.Goroutines
	if d.Rounds > 1 {
		list = once(list, func(number uint64) uint64 { return number })
		p.styled(bold, fmt.Sprintf("%d samples of ", g.Count))
	}
	p.styled(bold, fmt.Sprintf("%d goroutines [%s]", len(list), state))
	p.Text(first.of() + ": ")
	for i, number := range list[:min(namedThreads, len(list))] {
		if i > 0 {
			p.Text(", ")
		}
		p.Number(number)
	}
	if more := len(list) - namedThreads; more > 0 {
		p.Text(fmt.Sprintf(" and %d more", more))
	}
	p.Byte('\n')
	p.labels(first.Labels)
	p.objects(d, g)
}

// labels prints the line of a goroutine's labels, if it has some.
func (p *textPrinter) labels(s labelSet) {
	if len(s) > 0 {
		p.Text("  labels: " + s.String())
		p.Byte('\n')
	}
}

// creator prints which go statement has made a goroutine, as Go's own tracebacks do.
func (p *textPrinter) creator(g *group) {
	c := g.first.goroutine.Created
	if c == nil {
		return
	}
	p.Text("created by ")
	p.styled(yellow, c.Function)
	if g.creator != 0 {
		p.Text(fmt.Sprintf(" in goroutine %d", g.creator))
	}
	if c.File != "" {
		p.Text(" at ")
		p.styled(green, fmt.Sprintf("%s:%d", c.File, c.Line))
	}
	p.Byte('\n')
}
