package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// document is what a command prints, as text or as JSON; docs/json.md describes
// it. Fields are added, never renamed.
type document struct {
	PID      int      `json:"pid"`
	Exe      string   `json:"exe"`
	Arch     string   `json:"arch"`
	PauseUS  *int64   `json:"pause_us,omitempty"` // of a live process
	Core     string   `json:"core,omitempty"`     // the core file
	Snapshot string   `json:"snapshot,omitempty"` // the file with the snapshot
	Taken    string   `json:"taken,omitempty"`    // when the snapshot was
	Remote   string   `json:"remote,omitempty"`   // the stub's address
	Signal   *sig     `json:"signal,omitempty"`   // what a core's process died of, what a stub's stopped for
	Threads  []thread `json:"threads"`
}

// sig is a Unix signal and what came with it.
type sig struct {
	Number  int    `json:"number"`
	Name    string `json:"name"`
	Code    string `json:"code,omitempty"` // "SEGV_MAPERR"
	Address *hex   `json:"address,omitempty"`
	Sender  int    `json:"sender,omitempty"` // process that sent it
}

type thread struct {
	TID     int    `json:"tid"`
	Name    string `json:"name"`
	Died    bool   `json:"died,omitempty"`    // a core's: the signal came to this thread
	Stopped bool   `json:"stopped,omitempty"` // a stub's: this thread made the process stop
	Frames  []frm  `json:"frames"`
	Stop    string `json:"stop"`  // a frame.StopReason; "outermost" for a whole stack
	Error   string `json:"error"` // why there is no stack, or what made it end early

	whole  bool
	detail string // Error without what Stop says already
}

// frm is one frame: physical, or an inlined call laid over one.
type frm struct {
	Level    int    `json:"level"`
	Type     string `json:"type"`
	PC       hex    `json:"pc"`
	CFA      hex    `json:"cfa"`
	Function string `json:"function"`
	Offset   uint64 `json:"offset"`
	Module   string `json:"module"`
	BuildID  string `json:"build_id"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Sniffer  string `json:"sniffer"`

	Guess     bool         `json:"guess,omitempty"`
	ID        string       `json:"id,omitempty"`
	Registers []register   `json:"registers,omitempty"`
	Explain   *explanation `json:"explain,omitempty"`

	args   symbol.Args
	over   bool   // lies over the same physical frame as the one before
	inFile uint64 // link-time address
}

type register struct {
	Name  string `json:"name"`
	Value string `json:"value"` // "0x…", "<not saved>" or "<unavailable>"
}

type explanation struct {
	Row      string    `json:"row"`
	Declined []decline `json:"declined"`
}

type decline struct {
	Sniffer string `json:"sniffer"`
	Reason  string `json:"reason"`
}

// hex is an address; nil is one that is not known.
type hex struct {
	v  uint64
	ok bool
}

func (h hex) MarshalJSON() ([]byte, error) {
	if !h.ok {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, `"%#x"`, h.v), nil
}

// walk makes the document of a target's stacks.
func walk(t *source, symbols *symbol.Symbolizer, flags *walkFlags) (*document, error) {
	threads, err := t.Threads()
	if err != nil {
		return nil, err
	}
	for _, tid := range flags.tids {
		if !slices.ContainsFunc(threads, func(th target.Thread) bool { return th.ID() == tid }) {
			return nil, fmt.Errorf("--tid %d: the process has no such thread", tid)
		}
	}
	w := walker{target: t, symbols: symbols, flags: flags, table: flags.table(t.Arch()), places: map[uint64][]symbol.Location{}}
	doc := &document{Arch: t.Arch().Name}
	for _, th := range threads {
		if len(flags.tids) == 0 || slices.Contains(flags.tids, th.ID()) {
			doc.Threads = append(doc.Threads, w.thread(th))
		}
	}
	return doc, nil
}

type walker struct {
	target  *source
	symbols *symbol.Symbolizer
	flags   *walkFlags
	table   *frame.Table
	places  map[uint64][]symbol.Location // by address in block: stacks share most of theirs
}

func (w *walker) thread(th target.Thread) (out thread) {
	out = thread{TID: th.ID(), Name: th.Name(), Frames: []frm{}}
	if w.target.mark != nil {
		defer w.target.mark(th, &out)
	}
	stack, err := frame.New(w.target, th, w.table)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	stack.Limit = w.flags.maxFrames
	var last *frame.Frame
	for f, err := range stack.All() {
		if err != nil {
			out.Error = err.Error()
			if why := errors.Unwrap(err); why != nil {
				out.detail = why.Error()
			}
			break
		}
		last = f
		out.Frames = w.appendFrame(out.Frames, f)
	}
	reason := last.StopReason()
	out.Stop = reason.String()
	// Fewer frames on request is no fault of the stack.
	out.whole = reason.Whole() || reason == frame.Limit
	if out.whole {
		out.Error = ""
	}
	return out
}

// appendFrame adds a frame and, before it, the inlined calls that lie over it.
func (w *walker) appendFrame(list []frm, f *frame.Frame) []frm {
	addr := f.AddressInBlock()
	places, ok := w.places[addr]
	if !ok {
		places = w.symbols.Locate(w.target.Modules(), addr)
		w.places[addr] = places
	}
	if f.Type() != frame.Normal && len(places) > 1 {
		places = places[len(places)-1:]
	}
	cfa, known := f.CFA()
	base := frm{Type: f.Type().String(), PC: hex{f.PC(), true}, CFA: hex{cfa, known}, Sniffer: f.Sniffer()}
	if len(places) == 0 {
		base.Level = len(list)
		list = append(list, base)
	}
	for i, p := range places {
		x := base
		x.Level = len(list)
		x.over = i > 0
		x.Function, x.File, x.Line, x.args = p.Function, p.File, p.Line, p.Args
		if p.Function != "" {
			x.Offset = p.Offset + f.PC() - addr
		}
		if p.Inline {
			x.Type = frame.Inline.String()
		}
		if w.flags.explain {
			x.ID = id(f, &p, len(places)-1-i).String()
		}
		if p.Module != nil {
			x.Module, x.BuildID = p.Module.Path, p.Module.BuildID()
			if _, bias, err := p.Module.Image(); err == nil {
				x.inFile = f.PC() - bias
			}
		}
		list = append(list, x)
	}
	w.detail(&list[len(list)-1], f)
	return list
}

// id returns the ID of a frame, or of the depth-th call inlined into it, at p.
func id(f *frame.Frame, p *symbol.Location, depth int) frame.ID {
	if depth == 0 {
		return f.ID()
	}
	return f.ID().Inlined(depth, p.Entry)
}

// detail adds to a physical frame what --registers and --explain ask for.
func (w *walker) detail(x *frm, f *frame.Frame) {
	a := w.target.Arch()
	row := f.Row()
	x.Guess = row.Flags&trad.Guess != 0
	if w.flags.registers {
		for _, r := range a.Regs {
			x.Registers = append(x.Registers, register{r.Name, f.Register(r.Num).String()})
		}
	}
	if w.flags.explain {
		c := f.Claim()
		e := &explanation{Declined: []decline{}}
		if c.Sniffer != "" {
			e.Row = c.Row.Format(a.RegName)
		}
		for _, d := range c.Declined {
			e.Declined = append(e.Declined, decline{d.Sniffer, d.Reason})
		}
		x.Explain = e
	}
}
