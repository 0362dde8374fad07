package command

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
)

// merged are stacks of which equal ones are kept once. Stacks are equal if their frames are printed alike,
// without addresses: the same functions and lines, or places in the same files.
type merged struct {
	places placeKeys
	groups []*group // in the order of their first threads
	known  map[string]*group
	key    []byte // of the last stack
}

// group is one stack, and the threads that have it.
type group struct {
	threads []int        // indices in document.Threads
	first   thread       // how the stack ends
	frames  []frameEntry // of the first thread
}

func newMerged() *merged {
	return &merged{places: newPlaceKeys(), known: map[string]*group{}}
}

// placeKeys numbers the printed places of frames.
type placeKeys struct {
	known   map[string]int // by the text, or by a zero and the sum of a long text
	printer textPrinter
	last    []numberedPlace // by level, of the stacks before: most stacks are like them
}

// numberedPlace is all that is printed of a frame without arguments, and its number.
type numberedPlace struct {
	kind, function, module, file string
	offset, inFile               uint64
	line                         int
	args                         symbol.Args
	guess, movedOn               bool
	number                       int
}

// longPlace is the length from which on a text is long, bytes.
const longPlace = 4 << 10

func newPlaceKeys() placeKeys { return placeKeys{known: map[string]int{}} }

// of returns the number of a frame's place.
func (k *placeKeys) of(f *frameEntry) int {
	const most = 64
	if f.hasArguments || len(f.arguments) > 0 || f.Level < 0 || f.Level >= most {
		return k.printed(f)
	}
	for len(k.last) <= f.Level {
		k.last = append(k.last, numberedPlace{number: -1})
	}
	last := &k.last[f.Level]
	now := numberedPlace{
		f.Type, f.Function, f.Module, f.File, f.Offset, f.inFile, f.Line, f.args, f.Guess, f.MovedOn, last.number,
	}
	if last.number < 0 || now != *last {
		now.number = k.printed(f)
		*last = now
	}
	return now.number
}

// printed returns the number of a frame's text.
func (k *placeKeys) printed(f *frameEntry) int {
	p := &k.printer
	p.buf = p.buf[:0]
	p.shared(f)
	key := p.buf
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

// add adds the i-th thread's stack.
func (m *merged) add(x *walked, i int) {
	key := m.key[:0]
	defer func() { m.key = key }()
	for j := range x.frames {
		key = binary.AppendUvarint(key, uint64(m.places.of(&x.frames[j])))
	}
	if g := x.thread.goroutine; g != nil {
		key = append(append(key, 0xfe), g.state(false)...)
		key = append(key, g.Runtime...)
		if c := g.Created; c != nil {
			key = appendSized(appendSized(append(key, 0xfe), c.Function), c.File)
			key = binary.AppendUvarint(key, uint64(c.Line))
		}
		for _, l := range g.Labels {
			key = fmt.Appendf(key, "%q %q", l.Key, l.Value)
		}
	}
	key = append(key, x.thread.Kernel...)
	if !x.thread.whole {
		key = append(append(key, 0xff), x.thread.Stop...)
	}
	g, ok := m.known[string(key)]
	if !ok {
		g = &group{first: x.thread, frames: x.frames}
		if !x.single() {
			g.frames = slices.Clone(x.frames)
		}
		m.known[string(key)] = g
		m.groups = append(m.groups, g)
	}
	g.threads = append(g.threads, i)
}

// sorted returns the groups, those with the most threads first.
func (m *merged) sorted() []*group {
	list := slices.Clone(m.groups)
	slices.SortStableFunc(list, func(a, b *group) int { return cmp.Compare(len(b.threads), len(a.threads)) })
	return list
}

// namedThreads is how many threads of a group the text names before it counts the rest.
const namedThreads = 12

// group prints a stack with its threads: `3 threads "worker": 4243, 4244, 4245`.
func (p *textPrinter) group(d *document, g *group) {
	p.digits = d.digits
	of := d.Threads[g.threads[0]].goroutine
	if of != nil {
		p.goroutines(d, g)
	} else if len(g.threads) == 1 {
		p.thread(&document{Threads: []thread{d.Threads[g.threads[0]]}, Signal: d.Signal, report: d.report, digits: d.digits}, 0)
	} else {
		list := d.once(g.threads)
		if d.Rounds > 1 {
			p.styled(bold, fmt.Sprintf("%d samples of ", len(g.threads)))
		}
		s := "s"
		if len(list) == 1 {
			s = ""
		}
		p.styled(bold, fmt.Sprintf("%d thread%s", len(list), s))
		name, same := d.Threads[g.threads[0]].Name, true
		for _, i := range list {
			same = same && d.Threads[i].Name == name
		}
		if same && name != "" {
			p.styled(bold, fmt.Sprintf(" %q", name))
		}
		var named []string
		for _, i := range list[:min(namedThreads, len(list))] {
			t := &d.Threads[i]
			text := fmt.Sprint(t.TID)
			if !same && t.Name != "" {
				text += fmt.Sprintf(" %q", t.Name)
			}
			named = append(named, text)
		}
		if kernel := d.Threads[g.threads[0]].Kernel; kernel != "" {
			p.text(" of the kernel's, " + kernel + ", without a user stack")
		}
		p.text(": " + strings.Join(named, ", "))
		if more := len(list) - len(named); more > 0 {
			p.text(fmt.Sprintf(" and %d more", more))
		}
		for _, i := range g.threads {
			if t := &d.Threads[i]; t.Died {
				p.styled(red, fmt.Sprintf("; %d died", t.TID))
			}
		}
		p.byte('\n')
		p.waiting(sameWait(d, g))
	}
	for i := range g.frames {
		p.level(g.frames[i].Level)
		p.shared(&g.frames[i])
		p.byte('\n')
		p.source(&g.frames[i])
		p.makeRoom()
	}
	if of != nil {
		p.creator(d, g)
		if len(g.frames) == 0 && g.first.Stop == "" {
			p.styled(faint, g.first.Error)
			p.byte('\n')
		}
	}
	p.end(&g.first)
}

// once returns the indices of threads without those of threads, or goroutines, that an earlier round had.
func (d *document) once(list []int) []int {
	if d.Rounds <= 1 {
		return list
	}
	type key struct {
		id      uint64
		runtime string
	}
	known := map[key]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool {
		id := key{id: uint64(d.Threads[i].TID)}
		if g := d.Threads[i].goroutine; g != nil {
			id = key{g.Number, g.Runtime}
		}
		was := known[id]
		known[id] = true
		return was
	})
}

// shared prints of a frame what equal stacks share: all but its address.
func (p *textPrinter) shared(f *frameEntry) {
	switch f.Type {
	case frame.SigTramp.String():
		p.text("<signal handler called>")
	case frame.Dummy.String():
		p.text("<function called from sfwalk>")
	default:
		p.place(f)
	}
	p.marks(f)
}

// stackEntry is a group in JSON.
type stackEntry struct {
	Count      int           `json:"count"`
	Threads    []threadEntry `json:"threads,omitempty"`
	Goroutines []uint64      `json:"goroutines,omitempty"` // their numbers
	Runtime    string        `json:"runtime,omitempty"`    // which has the goroutines, of several in one process
	Frames     []frameEntry  `json:"frames"`
	Stop       string        `json:"stop"`
	Error      string        `json:"error"`
}

// threadEntry is a thread whose stack is that of others, too.
type threadEntry struct {
	TID  int    `json:"tid"`
	Name string `json:"name"`
	Died bool   `json:"died,omitempty"`
}

// entry is g in JSON.
func (g *group) entry(d *document) stackEntry {
	x := stackEntry{Count: len(g.threads), Frames: g.frames, Stop: g.first.Stop, Error: g.first.Error}
	for _, i := range g.threads {
		t := &d.Threads[i]
		if t.goroutine != nil {
			x.Goroutines, x.Runtime = append(x.Goroutines, t.goroutine.Number), t.goroutine.Runtime
			continue
		}
		x.Threads = append(x.Threads, threadEntry{t.TID, t.Name, t.Died})
	}
	return x
}
