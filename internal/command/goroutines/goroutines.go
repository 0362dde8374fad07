package goroutines

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Entry is what is known of a goroutine beside its stack.
type Entry struct {
	Number   uint64    `json:"number"`
	Runtime  string    `json:"runtime,omitempty"` // which has it, of several in one process
	Status   string    `json:"status"`
	Reason   string    `json:"reason,omitempty"`    // why it waits
	WaitNS   int64     `json:"wait_ns,omitempty"`   // how long it has waited, as the garbage collector has noticed
	TID      int       `json:"tid,omitempty"`       // the thread that runs it
	Died     bool      `json:"died,omitempty"`      // TID died, of the signal that the process died of
	Labels   Labels    `json:"labels,omitempty"`    // of runtime/pprof
	WaitsFor []*Object `json:"waits_for,omitempty"` // all cases of a select
	Call     any       `json:"call,omitempty"`      // for what its thread waits in a system call
	Created  *Creation `json:"created,omitempty"`   // nil for goroutines that the runtime has made at first

	runtime string // a short form of Runtime

	// As of a thread:
	Stop    string `json:"stop"`
	Error   string `json:"error"`
	MovedOn bool   `json:"moved_on,omitempty"`
	Stack   *int   `json:"stack,omitempty"`
}

// Labels are a goroutine's labels. In JSON they are an object.
type Labels []goroutine.Label

// MarshalJSON implements [json.Marshaler].
func (s Labels) MarshalJSON() ([]byte, error) {
	object := make(map[string]string, len(s))
	for _, l := range s {
		object[l.Key] = l.Value
	}
	return json.Marshal(object)
}

// String is the form in which runtime/pprof writes labels: {"handler":"list", "tenant":"blue"}.
func (s Labels) String() string {
	list := make([]string, len(s))
	for i, l := range s {
		list[i] = fmt.Sprintf("%q:%q", l.Key, l.Value)
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// Creation is the go statement that has made a goroutine.
type Creation struct {
	Function  string `json:"function"`
	File      string `json:"file"`
	Line      int    `json:"line"`
	Goroutine uint64 `json:"goroutine,omitempty"` // which has executed it
}

// State is what Go's own tracebacks have in brackets: "chan receive, 5 minutes".
func (g *Entry) State(minutes bool) string {
	state := g.Status
	if g.Reason != "" {
		state = g.Reason
	}
	if n := g.Minutes(); minutes && n >= 1 {
		state += fmt.Sprintf(", %d minutes", n)
	}
	return state
}

// Minutes returns how long it has waited.
func (g *Entry) Minutes() int64 { return g.WaitNS / int64(time.Minute) }

// Creator returns the number of the goroutine that has created it; 0 if that is not known.
func (g *Entry) Creator() uint64 {
	if g.Created == nil {
		return 0
	}
	return g.Created.Goroutine
}

// Thread is a goroutine as a thread whose stack is walked.
type Thread struct {
	Goroutine *goroutine.Goroutine
	RunBy     target.Thread // the thread that runs it; nil if it is parked

	of     *listing
	arch   *arch.Arch
	memory target.Memory // of RunBy
	waits  []*Object
}

// waited returns how long it has waited; 0 if that is not known.
func (t *Thread) waited() time.Duration {
	if t.Goroutine.Since <= 0 || t.of.now <= t.Goroutine.Since {
		return 0
	}
	return time.Duration(t.of.now - t.Goroutine.Since)
}

// ID implements [target.Thread]. It is not the number of a thread.
func (t *Thread) ID() int { return int(t.Goroutine.Number) }

// Name implements [target.Thread].
func (t *Thread) Name() string { return "" }

// Registers implements [target.Thread].
func (t *Thread) Registers(r *arch.Registers) error {
	switch {
	case t.RunBy != nil:
		return t.RunBy.Registers(r)
	case !t.Goroutine.Parked():
		return ErrNoRegisters
	}
	t.Goroutine.Registers(t.arch, r)
	return nil
}

// ErrNoRegisters is why a goroutine that is being scheduled has no stack.
var ErrNoRegisters = errors.New("a thread is about to run it, or just has: its registers are not known")

// StackMemory is the memory in which to walk the stack: see [target.MemoryOf].
func (t *Thread) StackMemory() target.Memory {
	if t.RunBy == nil {
		return t.of.memory(t.Goroutine)
	}
	return t.memory
}

// CreatedBy names the place of a go statement whose call returns to pc.
func CreatedBy(s target.Target, symbols *symbol.Symbolizer, pc, creator uint64) *Creation {
	if pc == 0 {
		return nil
	}
	at := symbols.Locate(s.Modules(), pc-1)
	if len(at) == 0 {
		return nil
	}
	return &Creation{symbol.Truncate(at[0].Function), symbol.Truncate(at[0].File), at[0].Line, creator}
}
