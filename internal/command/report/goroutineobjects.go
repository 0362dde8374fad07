package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/symbol"
)

// objectEntry is a channel or a lock that a goroutine waits for.
type objectEntry struct {
	Kind      string      `json:"kind"`
	Address   address.Hex `json:"address"`
	Name      string      `json:"name,omitempty"` // the variable's
	Offset    uint64      `json:"offset,omitempty"`
	Op        string      `json:"op,omitempty"` // receive or send; read or write, of a sync.RWMutex
	Len       uint64      `json:"len,omitempty"`
	Cap       uint64      `json:"cap,omitempty"`
	Receivers int         `json:"receivers,omitempty"`
	Senders   int         `json:"senders,omitempty"`
	Waiters   int         `json:"waiters"`
	Readers   int         `json:"readers,omitempty"`
	Written   bool        `json:"written,omitempty"`
	Counter   int         `json:"counter,omitempty"`

	sought bool // for its name
}

// objectEntries returns what the i-th goroutine waits for. Goroutines that wait for one object
// share the list.
func objectEntries(found *goroutineList, i int) []*objectEntry {
	if i >= len(found.waits) || len(found.waits[i]) == 0 {
		return nil
	}
	waits := found.waits[i]
	if len(waits) == 1 {
		return found.entriesOf(waits[0])
	}
	list := make([]*objectEntry, len(waits))
	for k, w := range waits {
		list[k] = found.entriesOf(w)[0]
	}
	return list
}

// entriesOf returns the entry of one wait.
func (found *goroutineList) entriesOf(w goroutine.Wait) []*objectEntry {
	if found.entries == nil {
		found.entries = map[goroutine.Wait][]*objectEntry{}
	}
	list := found.entries[w]
	if list != nil {
		return list
	}
	o := &found.objects[w.Object]
	e := &objectEntry{
		Kind: o.Kind.String(), Address: address.At(o.Address), Len: o.Len, Cap: o.Cap, Receivers: o.Receivers, Senders: o.Senders,
		Waiters: o.Waiters, Readers: o.Readers, Written: o.Written, Counter: o.Counter,
	}
	switch {
	case o.Kind == goroutine.Channel && w.Send:
		e.Op = "send"
	case o.Kind == goroutine.Channel:
		e.Op = "receive"
	case o.Kind == goroutine.RWMutex && w.Reads:
		e.Op = "read"
	case o.Kind == goroutine.RWMutex:
		e.Op = "write"
	}
	list = []*objectEntry{e}
	found.entries[w] = list
	return list
}

// find finds the name of the variable that holds a lock.
func (e *objectEntry) find(s Source, symbols *symbol.Symbolizer) {
	if e.sought {
		return
	}
	e.sought = true
	if name, offset, ok := symbols.Symbol(s.Modules(), e.Address.V); ok {
		e.Name, e.Offset = symbol.Truncate(name), offset
	}
}

// what says for what goroutines wait: "to receive from the channel 0xc000086150".
func (e *objectEntry) what() string {
	text := map[string]string{"send": "to send to the ", "receive": "to receive from the ", "read": "to read under the ", "write": "to write under the "}[e.Op]
	if text == "" {
		text = "for the "
	}
	text += fmt.Sprintf("%s %#x", e.Kind, e.Address.V)
	switch {
	case e.Name != "" && e.Offset != 0:
		text += fmt.Sprintf(" (%s+%d)", e.Name, e.Offset)
	case e.Name != "":
		text += fmt.Sprintf(" (%s)", e.Name)
	}
	return text
}

// state says how the object is: "unbuffered, 7 wait to receive".
func (e *objectEntry) state() string {
	waits := fmt.Sprintf("%d wait", e.Waiters)
	if e.Waiters == 1 {
		waits = "1 waits"
	}
	switch e.Kind {
	case goroutine.Channel.String():
		list := []string{"unbuffered"}
		if e.Cap > 0 {
			list[0] = fmt.Sprintf("%d of %d in it", e.Len, e.Cap)
		}
		for n, what := range map[string]int{"receive": e.Receivers, "send": e.Senders} {
			if what > 0 {
				list = append(list, fmt.Sprintf("%d to %s", what, n))
			}
		}
		slices.Sort(list[1:])
		return list[0] + ", waiting: " + strings.Join(list[1:], ", ")
	case goroutine.WaitGroup.String():
		return fmt.Sprintf("counter %d, %s", e.Counter, waits)
	case goroutine.RWMutex.String():
		switch {
		case e.Written:
			return "held by a writer, " + waits
		case e.Readers == 1:
			return "held by 1 reader, " + waits
		}
		return fmt.Sprintf("held by %d readers, %s", e.Readers, waits)
	}
	return waits
}

// namedObjects is how many objects of a group the text names before it counts the rest.
const namedObjects = 4

// objectCounts counts the goroutines of a group that wait for an object.
type objectCounts struct {
	of   map[*objectEntry]int
	list []*objectEntry // in the order of the first goroutines
}

// add adds what a goroutine waits for.
func (c *objectCounts) add(waits []*objectEntry) {
	for _, e := range waits {
		if c.of == nil {
			c.of = map[*objectEntry]int{}
		}
		if c.of[e]++; c.of[e] == 1 {
			c.list = append(c.list, e)
		}
	}
}

// objects prints what goroutines of a group wait for, what most wait for first.
func (p *textPrinter) objects(d *Document, g *group) {
	counts, list := g.objects.of, slices.Clone(g.objects.list)
	if len(list) == 0 || d.Rounds > 1 {
		return // of added rounds, they may be others in each
	}
	slices.SortStableFunc(list, func(a, b *objectEntry) int { return cmp.Compare(counts[b], counts[a]) })
	verb := "wait"
	if g.Count == 1 {
		verb = "waits"
	}
	for i, e := range list[:min(namedObjects, len(list))] {
		many := ""
		if n := counts[e]; i > 0 || n < g.Count {
			many = fmt.Sprintf("%d: ", n)
		}
		if g.Count == 1 {
			many = ""
		}
		p.Text(fmt.Sprintf("  %s%s %s: %s", many, verb, e.what(), e.state()))
		p.Byte('\n')
	}
	if more := len(list) - namedObjects; more > 0 {
		p.Text(fmt.Sprintf("  and for %d more", more))
		p.Byte('\n')
	}
}
