package external

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/trad"
)

// Options says what to start, and how far to trust it.
type Options struct {
	Path         string         // of the program
	SHA256       string         // the checksum in hexadecimal that the program must have; "" for any
	StartTimeout time.Duration  // until the plug-in has described itself; 0 means [DefaultStartTimeout]
	Deadline     time.Duration  // for one answer; 0 means [DefaultDeadline]
	Host         string         // who asks, for the plug-in to log: "sfwalk 1.4.0"
	Stderr       io.Writer      // gets what the plug-in writes to its standard error; nil: only the end of it is kept, for errors
	Trace        func(Exchange) // is called with each question that the plug-in was asked; nil for none
}

const (
	DefaultStartTimeout = 5 * time.Second
	DefaultDeadline     = 250 * time.Millisecond
)

// Exchange is one question and what came of it.
type Exchange struct {
	Question *protocol.Question
	Answer   *protocol.Answer // nil where none came
	Requests int              // what the plug-in asked for meanwhile
	Took     time.Duration
	Err      error // why the plug-in was put out of use
}

// Errors of [Start] and [Plugin.Err]; test with errors.Is.
var (
	ErrStart    = errors.New("the plug-in does not start")
	ErrChecksum = errors.New("the checksum is not the one that was pinned")
	ErrVersion  = errors.New("the plug-in speaks another version of the protocol")
	ErrCrash    = errors.New("the plug-in has ended")
	ErrDeadline = errors.New("the plug-in does not answer in time")
	ErrNonsense = errors.New("the plug-in answers nonsense")
)

// Plugin is a plug-in that runs. It is safe for concurrent use.
type Plugin struct {
	Path        string
	Description plugin.Description // checked: the name is one, the order's sniffer may not exist
	Protocol    int                // version of the protocol that both speak
	Started     time.Duration      // how long the start took, with the description
}

// Start starts a plug-in and has it describe itself. The error names the program, what it
// did, the end of what it wrote to its standard error, and what to do.
func Start(ctx context.Context, o Options) (*Plugin, error) { return nil, nil }

// Err returns the fault that has put the plug-in out of use, nil while there is none.
func (p *Plugin) Err() error { return nil }

// Close ends the plug-in's process.
func (p *Plugin) Close() error { return nil }

// Target is what a plug-in may know of a process beside its memory.
type Target struct {
	PID  int    // 0 if not known
	Live bool   // the process exists, on this machine
	Root string // folder below which its files are: "/proc/4242/root"; "" for "/"
}

// Sniffer asks a plug-in about one process. It is safe for concurrent use, as by several
// stacks of the process.
type Sniffer struct{}

var _ frame.Delimiter = (*Sniffer)(nil)

// Sniffer returns the sniffer that asks the plug-in about a process.
func (p *Plugin) Sniffer(t Target) *Sniffer { return nil }

// Name implements [frame.Sniffer]: it is the plug-in's.
func (s *Sniffer) Name() string { return "" }

// Sniff implements [frame.Sniffer].
func (s *Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) { return trad.Row{}, "" }

// FunctionStart implements [frame.Delimiter] by the names that the plug-in has given.
func (s *Sniffer) FunctionStart(q *frame.Query) (uint64, bool) { return 0, false }

// Symbol returns the name that the plug-in has given to the code at pc, an address in
// block, or to the frame there with that CFA alone.
func (s *Sniffer) Symbol(pc, cfa uint64) (plugin.Symbol, bool) { return plugin.Symbol{}, false }

// Forget makes the next question begin anew: the process has run on, and what was said of
// it may not hold any more. Tables of rows must be reset as well.
func (s *Sniffer) Forget() {}

// Stats counts what became of a sniffer's questions.
func (s *Sniffer) Stats() Stats { return Stats{} }

// Stats counts what became of a sniffer's questions.
type Stats struct {
	Asked  uint64 // the plug-in
	Kept   uint64 // answered by a row that was kept
	Denied uint64 // declined without the plug-in: it never claims that code
}

// Insert puts a plug-in's sniffer into a table where its description says, or, where the
// table has no sniffer of that name, before the first that reads code or guesses.
func Insert(t *frame.Table, s *Sniffer) {}
