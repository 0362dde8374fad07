package goroutines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Object is a channel or a lock that a goroutine waits for.
type Object struct {
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
func objectEntries(found *listing, i int) []*Object {
	if i >= len(found.waits) || len(found.waits[i]) == 0 {
		return nil
	}
	waits := found.waits[i]
	if len(waits) == 1 {
		return found.entriesOf(waits[0])
	}
	list := make([]*Object, len(waits))
	for k, w := range waits {
		list[k] = found.entriesOf(w)[0]
	}
	return list
}

// entriesOf returns the entry of one wait.
func (found *listing) entriesOf(w goroutine.Wait) []*Object {
	if found.entries == nil {
		found.entries = map[goroutine.Wait][]*Object{}
	}
	list := found.entries[w]
	if list != nil {
		return list
	}
	o := &found.objects[w.Object]
	e := &Object{
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
	list = []*Object{e}
	found.entries[w] = list
	return list
}

// Find finds the name of the variable that holds a lock.
func (e *Object) Find(s target.Target, symbols *symbol.Symbolizer) {
	if e.sought {
		return
	}
	e.sought = true
	if name, offset, ok := symbols.Symbol(s.Modules(), e.Address.V); ok {
		e.Name, e.Offset = symbol.Truncate(name), offset
	}
}

// What says for what goroutines wait: "to receive from the channel 0xc000086150".
func (e *Object) What() string {
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

// State says how the object is: "unbuffered, 7 wait to receive".
func (e *Object) State() string {
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
