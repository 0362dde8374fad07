package show

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/symbol"
)

// merged are stacks of which equal ones are kept once. Stacks are equal if their frames are printed
// alike, without addresses: the same functions and lines, or places in the same files.
type merged struct {
	flags  *report.Flags
	places placeKeys
	groups []*group // in the order of their first threads
	known  map[string]*group
	key    []byte // of the last stack
}

// group is one stack, and the threads that have it.
type group struct {
	report.StackEntry
	first report.Thread // of them: it says how the stack ends
	at    int           // index in document.Stacks, once all are sorted
	waits waits.Sum     // for what they wait
	told  toldSum       // what languages know of them

	// Of goroutines:
	least, most int64  // minutes that they have waited
	creator     uint64 // the goroutine that has created all of them; 0 if there is none
	objects     objectCounts
}

func newMerged(flags *report.Flags) *merged {
	return &merged{flags: flags, places: newPlaceKeys(), known: map[string]*group{}}
}

// placeKeys numbers the printed places of frames.
type placeKeys struct {
	known   map[string]int // by the text, or by a zero and the sum of a long text
	printer textPrinter
	last    []numberedPlace // of the stacks before, the innermost frame first: most stacks are like them
}

// numberedPlace is all that is printed of a frame without arguments, and its number.
type numberedPlace struct {
	kind, function, module, file string
	language, how                string // of a frame of a language
	offset, inFile               uint64
	line, column, signal         int
	args                         symbol.Args
	guess, movedOn               bool
	number                       int
}

// longPlace is the length from which on a text is long, bytes.
const longPlace = 4 << 10

func newPlaceKeys() placeKeys { return placeKeys{known: map[string]int{}} }

// of returns the number of the place of the frame that is the n-th of its stack.
func (k *placeKeys) of(f *report.Frame, n int) int {
	const most = 64
	if f.HasArguments || len(f.Arguments) > 0 || n >= most {
		return k.printed(f)
	}
	for len(k.last) <= n {
		k.last = append(k.last, numberedPlace{number: -1})
	}
	last := &k.last[n]
	signal := 0
	if f.Signal != nil {
		signal = f.Signal.Number
	}
	now := numberedPlace{
		f.Type, f.Function, f.Module, f.File, f.Language, f.Kind, f.Offset, f.InFile, f.Line, f.Column, signal, f.Params, f.Guess, f.MovedOn, last.number,
	}
	if last.number < 0 || now != *last {
		now.number = k.printed(f)
		*last = now
	}
	return now.number
}

// printed returns the number of a frame's text.
func (k *placeKeys) printed(f *report.Frame) int {
	p := &k.printer
	p.Buf = p.Buf[:0]
	p.shared(f)
	key := p.Buf
	if len(key) > longPlace {
		sum := sha256.Sum256(key)
		key = append([]byte{0}, sum[:]...) // no text has a zero
	}
	n, ok := k.known[string(key)]
	if !ok {
		n = len(k.known)
		k.known[string(key)] = n
	}
	return n
}

// appendSized appends the length of a text, and the text.
func appendSized(key []byte, text string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(text))), text...)
}

// add adds a thread's stack, and has the thread refer to it.
func (m *merged) add(x *report.Walked) {
	key := m.key[:0]
	defer func() { m.key = key }()
	n := 0
	for j := range x.Frames {
		if m.flags.Shows(&x.Frames[j]) {
			key = binary.AppendUvarint(key, uint64(m.places.of(&x.Frames[j], n)))
			n++
		}
	}
	if g := x.Thread.Goroutine; g != nil {
		key = append(append(key, 0xfe), g.State(false)...)
		key = append(key, g.Runtime...)
		if c := g.Created; c != nil {
			key = appendSized(appendSized(append(key, 0xfe), c.Function), c.File)
			key = binary.AppendUvarint(key, uint64(c.Line))
		}
		for _, l := range g.Labels {
			key = fmt.Appendf(key, "%q %q", l.Key, l.Value)
		}
	}
	key = append(key, x.Thread.Kernel...)
	if !x.Thread.Whole {
		key = append(append(key, 0xff), x.Thread.Stop...)
	}
	g, ok := m.known[string(key)]
	if !ok {
		g = newGroup(x)
		m.known[string(key)] = g
		m.groups = append(m.groups, g)
	}
	g.add(&x.Thread)
	g.joinSignals(x.Frames)
	x.Thread.Stack = &g.at
}

// newGroup returns the group of a stack, without members.
func newGroup(x *report.Walked) *group {
	t := &x.Thread
	g := &group{first: *t, StackEntry: report.StackEntry{Frames: x.Frames, Stop: t.Stop, Error: t.Error}}
	if !x.Single() {
		g.Frames = append([]report.Frame{}, x.Frames...) // in JSON, no frames are an empty list
	}
	if of := t.Goroutine; of != nil {
		kept := *of
		g.first.Goroutine = &kept
		g.Runtime, g.least, g.creator = of.Runtime, of.Minutes(), of.Creator()
	}
	return g
}

// add adds a thread, of which the group keeps no more than is printed.
func (g *group) add(t *report.Thread) {
	g.Count++
	g.waits.Add(t.WaitsFor)
	g.told.add(t.Languages)
	of := t.Goroutine
	if of == nil {
		g.Threads = append(g.Threads, report.ThreadEntry{TID: t.TID, Name: t.Name, Died: t.Died})
		return
	}
	g.Goroutines = append(g.Goroutines, of.Number)
	g.least, g.most = min(g.least, of.Minutes()), max(g.most, of.Minutes())
	if of.Creator() != g.creator {
		g.creator = 0
	}
	g.objects.add(of.WaitsFor)
}

// joinSignals keeps what another stack of the group shares of the signals. Both have as many signal
// frames, but perhaps other hidden ones.
func (g *group) joinSignals(frames []report.Frame) {
	next := 0
	for i := range g.Frames {
		if g.Frames[i].Type != frame.SigTramp.String() {
			continue
		}
		for next < len(frames) && frames[next].Type != frame.SigTramp.String() {
			next++
		}
		if next == len(frames) {
			return
		}
		if s := g.Frames[i].Signal; s != nil && !s.Equal(frames[next].Signal) {
			g.Frames[i].Signal = s.WithoutCause()
		}
		next++
	}
}

// sorted returns the groups, those with the most threads first.
func (m *merged) sorted() []*group {
	list := slices.Clone(m.groups)
	slices.SortStableFunc(list, func(a, b *group) int { return cmp.Compare(b.Count, a.Count) })
	for i, g := range list {
		g.at = i
	}
	return list
}

// namedThreads is how many threads of a group the text names before it counts the rest.
const namedThreads = 12

// group prints a stack with its threads: `3 threads "worker": 4243, 4244, 4245`.
func (p *textPrinter) group(d *report.Document, g *group) {
	p.digits = d.Digits
	of := g.first.Goroutine
	if of != nil {
		p.goroutines(d, g)
		p.waitingAll(d, g, g.Count)
	} else if g.Count == 1 {
		p.Thread(&report.Document{Threads: []report.Thread{g.first}, Signal: d.Signal, CrashReport: d.CrashReport, Digits: d.Digits}, 0)
		p.told(g.first.Languages)
		p.single = false // the frames are chosen already
	} else {
		list := g.Threads
		if d.Rounds > 1 {
			list = once(list, func(t report.ThreadEntry) int { return t.TID })
			p.styled(bold, count.Of(g.Count, "sample")+" of ")
		}
		p.styled(bold, count.Of(len(list), "thread"))
		name, same := g.first.Name, true
		for i := range list {
			same = same && list[i].Name == name
		}
		if same && name != "" {
			p.styled(bold, fmt.Sprintf(" %q", name))
		}
		var named []string
		for _, t := range list[:min(namedThreads, len(list))] {
			text := fmt.Sprint(t.TID)
			if !same && t.Name != "" {
				text += fmt.Sprintf(" %q", t.Name)
			}
			named = append(named, text)
		}
		if kernel := g.first.Kernel; kernel != "" {
			p.Text(" of the kernel's, " + kernel + ", without a user stack")
		}
		p.Text(": " + strings.Join(named, ", "))
		if more := len(list) - len(named); more > 0 {
			p.Text(fmt.Sprintf(" and %d more", more))
		}
		for _, t := range g.Threads {
			if t.Died {
				p.styled(red, fmt.Sprintf("; %d died", t.TID))
			}
		}
		p.Byte('\n')
		p.waitingAll(d, g, len(list))
		p.toldAll(d, g)
	}
	for i := range g.Frames {
		begin := len(p.Buf)
		p.level(g.Frames[i].Level)
		p.merged(&g.Frames[i], g.Frames[i].Signal)
		p.Byte('\n')
		p.source(&g.Frames[i])
		if g.Count == 1 {
			p.holds(&g.Frames[i])
		}
		if p.folds() {
			p.fold(begin, g.Frames[i].Level, kindOf(&g.Frames[i]))
		}
		p.MakeRoom()
	}
	p.unfold()
	if of != nil {
		p.creator(g)
		if len(g.Frames) == 0 && g.first.Stop == "" {
			p.styled(faint, g.first.Error)
			p.Byte('\n')
		}
	}
	p.End(&g.first)
}

// once returns members of a group without members that an earlier round had.
func once[T any, ID comparable](list []T, id func(T) ID) []T {
	known := map[ID]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool {
		was := known[id(x)]
		known[id(x)] = true
		return was
	})
}

// shared prints of a frame what equal stacks share: all but its address, and what came with a
// signal.
func (p *textPrinter) shared(f *report.Frame) { p.merged(f, f.Signal.WithoutCause()) }

// merged prints a frame without its address, and what is to be said of its signal.
func (p *textPrinter) merged(f *report.Frame, s *report.Signal) {
	switch f.Type {
	case frame.SigTramp.String():
		p.signal(s)
	case frame.Dummy.String():
		p.Text("<function called from sfwalk>")
	case report.Language:
		p.languageFrame(f)
	default:
		p.place(f)
	}
	p.marks(f)
}
