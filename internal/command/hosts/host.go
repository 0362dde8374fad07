package hosts

import (
	"context"
	"io"
	"time"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/debuginfod"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/trad"
)

// Plugins runs plug-ins, sniffers that are programs of their own, and asks servers for symbols.
// There is one, in internal/command/pluginhost; this package must not import it, nor gRPC and
// net/http with it.
type Plugins interface {
	// Find lists the plug-ins in directories. The warnings say which are left out, and why.
	Find(dirs ...string) (list []Program, warnings []error)
	// Start starts a plug-in and has it describe itself.
	Start(ctx context.Context, o StartOptions) (Plugin, error)
	// Check runs the conformance test on a plug-in.
	Check(ctx context.Context, p Program, host string, snapshots []string) (Report, error)
	// Symbols returns the server of symbol files at an address, https://HOST/…, whose files are
	// kept in a folder below cache. It may redirect to others that the user has named.
	Symbols(address, cache string, others ...string) (SymbolServer, error)
	// DebugFiles fetches the debug files of build IDs from debuginfod servers into their cache,
	// with a bar on a terminal, or text for another file; nil for nothing. It returns what has
	// failed.
	DebugFiles(ctx context.Context, servers debuginfod.Config, buildIDs []string, bar io.Writer) []error
}

// SymbolServer is a server of symbol files.
type SymbolServer interface {
	Dir() string // where its files are kept: a store
	// Fetch fetches the symbol files of modules that are not kept yet, with a bar on a terminal;
	// nil for none.
	Fetch(ctx context.Context, modules []breakpad.Module, bar io.Writer)
	Errors() []error // of all that was fetched
}

// Program is a plug-in that has not been started.
type Program struct {
	Path   string
	SHA256 string // the checksum in hexadecimal that it must have; "" for any
	Guard  bool   // it was found in a directory: nobody but root and the user may be able to change it
}

// StartOptions says how to start a plug-in.
type StartOptions struct {
	Program
	Host   string          // the name of this program: "sfwalk 1.4.0"
	Stderr io.Writer       // gets the plug-in's standard error; nil: errors show the end of it
	Trace  func(*Exchange) // is called with each question and its result; may be nil
}

// Plugin is a plug-in that runs.
type Plugin interface {
	About() About
	// Sniffer returns the sniffer that asks the plug-in about a process.
	Sniffer(Process) Sniffer
	// Decorator returns the decorator that asks the plug-in about the stacks of a process. It
	// returns nil if the plug-in decorates none.
	Decorator(Process) language.Decorator
	// Err returns why the plug-in was put out of use; nil while it is in use.
	Err() error
	// SHA256 returns the checksum of the program that runs, in hexadecimal.
	SHA256() (string, error)
	io.Closer
}

// About is a plug-in's description of itself.
type About struct {
	Name, Version string
	Protocol      int      // its version
	Architectures []string // GOARCH's names; none for all
	Before        string   // the sniffer that is asked only after this one
	Unwinds       bool     // it may claim frames
	Decorates     string   // the language whose frames it knows; "" for none
	Started       time.Duration
}

// Process has the facts about a process, beside its memory, that a plug-in gets.
type Process struct {
	PID  int    // 0 if not known
	Live bool   // it is a process of this machine
	Root string // folder below which its files are; "" for "/"
}

// Sniffer asks a plug-in about one process.
type Sniffer interface {
	frame.Sniffer
	// Insert puts the sniffer into a table, where the plug-in wants to stand.
	Insert(*frame.Table)
	// Symbol returns the plug-in's name for a frame, or for the code where it runs.
	Symbol(f *frame.Frame) (Symbol, bool)
	Stats() Stats
	// Close ends the plug-in's session for the process.
	Close()
}

// Symbol is a plug-in's name for code.
type Symbol struct {
	Range
	FrameOnly bool // the name is for one frame; else it is for code
	Function  string
	File      string // "" if not known
	Line      int    // from 1; 0 if not known
}

// Stats counts a sniffer's questions by their outcome.
type Stats struct {
	Asked  uint64 `json:"asked"`  // of the plug-in
	Kept   uint64 `json:"kept"`   // answered by a row that was kept
	Denied uint64 `json:"denied"` // declined at once: the plug-in never claims that code
}

// Exchange is one question to a plug-in, and its answer as it came.
type Exchange struct {
	PC, AddressInBlock uint64
	Level              int
	Module             string // mapped there; "" if none is

	Row      *Row    // that claims the frame; nil where it declines
	Declines string  // why; "" where it claims, and where no answer came
	Name     *Symbol // for this frame alone
	Rows     []Row
	Never    []Range
	Symbols  []Symbol

	Requests int           // of the plug-in meanwhile
	Took     time.Duration // until the answer was there
	Err      error         // why the plug-in was put out of use
}

// Row is a row as a plug-in gives it. Its range is not checked.
type Row struct {
	Range
	Rules trad.Row
	SP    trad.Rule // of PREVIOUS, if a frame has it
}

// Range is [Lo, Hi), run-time addresses.
type Range struct{ Lo, Hi uint64 }

// Report is the result of a conformance test. It can be marshalled to JSON.
type Report interface {
	Write(io.Writer) error // for people
	Passed() bool
}

// ArchitectureNames returns GOARCH's names of the ArchitectureNames that the plug-in is for, or
// "all".
func (a *About) ArchitectureNames() []string {
	if len(a.Architectures) == 0 {
		return []string{"all"}
	}
	return a.Architectures
}

// AskedBefore names the sniffer that the plug-in is asked AskedBefore.
func (a *About) AskedBefore() string {
	if a.Before == "" {
		return "prologue"
	}
	return a.Before
}
