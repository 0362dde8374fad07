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
	"github.com/sfwalk/sfwalk/target/snapshot"
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

// WithGoroutines returns s with its goroutines in place of its threads.
func (s *Source) WithGoroutines() (*Source, error) {
	if s.Goroutines != nil {
		return s.Goroutines, nil
	}
	noted := &notedReads{Memory: s.Memory()}
	runtimes, missing := goroutine.FindAll(noting{s.Target, noted})
	if len(runtimes) == 0 {
		return nil, fmt.Errorf("--goroutines: %w%s", missing, s.unsaved())
	}
	r := goRuntimes(runtimes)
	var err error
	found := &goroutineList{memory: func(*goroutine.Goroutine) target.Memory { return s.Memory() }}
	switch t := s.Target.(type) {
	case *live.Target:
		if !s.Saved { // what Find has read does not change
			*noted = notedReads{Memory: noted.Memory}
		}
		found, err = hold(t, r, noted, s.Saved)
	case *snapshot.Target:
		found.list, err = r.appendAll(nil, s.Memory())
		found.now = int64(t.Monotonic)
		found.waits, found.objects = r.waits(s.Memory(), found.list)
	default:
		found.list, err = r.appendAll(nil, s.Memory())
		found.waits, found.objects = r.waits(s.Memory(), found.list)
	}
	if len(found.list) == 0 && err != nil {
		return nil, fmt.Errorf("--goroutines: %w%s", err, s.unsaved())
	}
	err = errors.Join(missing, err)
	list := found.list
	threads, why := s.Threads()
	if why != nil {
		return nil, why
	}
	with := *s
	if err == nil && len(r) == 1 && s.OneMoment != nil && s.OneMoment() {
		with.asleep = allAsleep(s, list, threads)
	}
	with.Retake = nil // the threads, too, were read when the goroutines were
	with.items = make([]target.Thread, len(list))
	items := make([]goroutineThread, len(list))
	for i := range list {
		g, x := &list[i], &items[i]
		*x = goroutineThread{g: g, of: found, arch: s.Arch(), waits: objectEntries(found, i)}
		with.items[i] = x
		if g.Parked() {
			continue
		}
		at := slices.IndexFunc(threads, func(t target.Thread) bool { return t.ID() == g.Thread })
		if at >= 0 {
			x.thread = threads[at]
			if x.memory = target.MemoryOf(s.Target, x.thread); found.running != nil {
				x.memory = found.running(g, x.memory)
			}
		}
	}
	found.waits, found.entries = nil, nil
	names := r.names()
	with.Mark, with.LetGo = func(of target.Thread, th *Thread) {
		x := of.(*goroutineThread)
		name := names[x.g.Module]
		if th.goroutine == nil {
			th.goroutine = new(goroutineEntry)
		}
		*th.goroutine = goroutineEntry{
			Number: x.g.Number, Runtime: name.whole, runtime: name.short, Status: x.g.Status.String(), Reason: x.g.Reason,
			WaitNS: int64(x.waited()), TID: x.g.Thread, Labels: x.g.Labels, WaitsFor: x.waits,
		}
		th.created, th.creator = x.g.Created, x.g.Creator
		if th.Error == errNoRegisters.Error() {
			th.Whole, th.Detail = true, ""
		}
	}, nil
	warnings := s.Warnings
	with.Warnings = func() []string {
		list := warnings()
		if err != nil {
			list = append(list, fmt.Sprintf("some goroutines are missing: %v%s", err, s.unsaved()))
		}
		if found.unkept {
			list = append(list, "--save: there are too many goroutines: 'sfwalk open --goroutines' will miss some")
		}
		return list
	}
	s.Goroutines = &with
	return &with, nil
}

// unsaved returns what to say of a snapshot that may have been saved without goroutines.
func (s *Source) unsaved() string {
	if t, ok := s.Target.(*snapshot.Target); ok && t.Monotonic == 0 {
		return ": the snapshot has them if it was saved by attach --goroutines --save"
	}
	return ""
}

// createdBy names the place of a go statement whose call returns to pc.
func createdBy(s *Source, symbols *symbol.Symbolizer, pc, creator uint64) *creation {
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
