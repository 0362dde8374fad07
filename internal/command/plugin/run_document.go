package plugin

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/trad"
)

// runDocument is what `sfwalk plugin run --json` prints; docs/json.md describes it.
// Fields are added, never renamed.
type runDocument struct {
	Plugin  pluginItem  `json:"plugin"`
	PID     int         `json:"pid"`
	Arch    string      `json:"arch"`
	Threads []runThread `json:"threads"`
	Stats   hosts.Stats `json:"stats"`
	Stderr  string      `json:"stderr"`
	Error   string      `json:"error"`
}

type runThread struct {
	TID        int            `json:"tid"`
	Name       string         `json:"name"`
	Frames     int            `json:"frames"` // physical ones
	Questions  []question     `json:"questions"`
	Decoration *runDecoration `json:"decoration,omitempty"`
	Stop       string         `json:"stop"`
	Error      string         `json:"error"`
}

type question struct {
	Level    int         `json:"level"` // of physical frames
	PC       address.Hex `json:"pc"`
	Block    address.Hex `json:"block"`
	Module   string      `json:"module"`
	Claims   *runRow     `json:"claims"`
	Declines string      `json:"declines"`
	Name     *runName    `json:"name"`
	Rows     []runRow    `json:"rows"`
	Never    []runRange  `json:"never"`
	Symbols  []runName   `json:"symbols"`
	Requests int         `json:"requests"`
	TookUS   int64       `json:"took_us"`
	Error    string      `json:"error"`
}

type runRange struct {
	Lo address.Hex `json:"lo"`
	Hi address.Hex `json:"hi"`
}

type runRow struct {
	runRange
	Row string `json:"row"`
}

func (r *runRow) String() string { return fmt.Sprintf("[%#x, %#x): %s", r.Lo.V, r.Hi.V, r.Row) }

type runName struct {
	runRange
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

func (n *runName) String() string {
	text := fmt.Sprintf("[%#x, %#x): %s", n.Lo.V, n.Hi.V, n.Function)
	if n.File != "" {
		text += fmt.Sprintf(" at %s:%d", n.File, n.Line)
	}
	return text
}

func newRunDocument(s report.Source, p pluginItem) *runDocument {
	var about report.Document
	s.About(&about)
	return &runDocument{Plugin: p, PID: about.PID, Arch: s.Arch().Name, Threads: []runThread{}}
}

// add adds a thread with the questions about it.
func (d *runDocument) add(th *report.Thread, frames int, list []*hosts.Exchange, a *arch.Arch) {
	t := runThread{TID: th.TID, Name: th.Name, Frames: frames, Questions: []question{}, Stop: th.Stop, Error: th.Error}
	for _, x := range list {
		t.Questions = append(t.Questions, newQuestion(x, a))
	}
	d.Threads = append(d.Threads, t)
}

func newQuestion(x *hosts.Exchange, a *arch.Arch) question {
	span := func(lo, hi uint64) runRange { return runRange{address.At(lo), address.At(hi)} }
	row := func(r *hosts.Row) runRow {
		if r.SP.Kind != trad.NotTracked {
			r.Rules.Others.Regs = append(r.Rules.Others.Regs, trad.RegRule{Reg: a.SP, Rule: r.SP})
		}
		return runRow{span(r.Lo, r.Hi), r.Rules.Format(a.RegName)}
	}
	symbol := func(s *hosts.Symbol) runName { return runName{span(s.Lo, s.Hi), s.Function, s.File, s.Line} }
	q := question{
		Level: x.Level, PC: address.At(x.PC), Block: address.At(x.AddressInBlock), Module: x.Module, Declines: x.Declines,
		Rows: []runRow{}, Never: []runRange{}, Symbols: []runName{}, Requests: x.Requests, TookUS: x.Took.Microseconds(),
	}
	if x.Row != nil {
		r := row(x.Row)
		q.Claims = &r
	}
	if x.Name != nil {
		n := symbol(x.Name)
		q.Name = &n
	}
	for i := range x.Rows {
		q.Rows = append(q.Rows, row(&x.Rows[i]))
	}
	for _, r := range x.Never {
		q.Never = append(q.Never, span(r.Lo, r.Hi))
	}
	for i := range x.Symbols {
		q.Symbols = append(q.Symbols, symbol(&x.Symbols[i]))
	}
	if x.Err != nil {
		q.Error = x.Err.Error()
	}
	return q
}

// tail keeps the last tailSize bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 64 << 10

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailSize; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.text), string(unicode.ReplacementChar))
}
