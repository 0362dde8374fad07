//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"
	"fmt"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/framebase"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
	"github.com/sfwalk/sfwalk/value"
)

// Target is a process or a core file that Delve controls. It implements [target.Target]. Only one
// goroutine at a time may use it, as with Delve's own types.
type Target struct {
	Proc  *proc.Target
	Table *frame.Table // unwinds every stack; the caller may add sniffers, or set another

	// Decorators know languages, such as Python and Java, whose frames stand in the stacks of
	// threads, and of goroutines that run on one. nil: none do.
	Decorators []language.Decorator
	// AllFrames asks for the frames of a language's run time as well, such as its evaluator's.
	AllFrames bool

	// Name returns a sniffer's name for a frame that is not Go's, or for its code. It may call
	// any method of the frame. nil: there are no such names.
	Name func(*frame.Frame) (Name, bool)

	arch    *arch.Arch
	memory  *memory
	seen    target.Memory // returned by Memory: memory, or in a recording memory with the files' code
	files   *sysroot.Files
	root    string // the folder of the process's root; "" for this machine's own root
	modules *target.Modules
	maps    []procmaps.Mapping        // source of modules; nil in a recording
	known   map[string]*target.Module // the same modules, by file and place
	symbols *symbol.Symbolizer
	view    *logical.View // of modules; made by Refresh
	values  *value.Reader // of variables, since the last Refresh; nil until it is asked for

	goroutines goroutines
	languages  languages
}

// ErrUnsupported says that Delve's target has an architecture or a system that this package does
// not know. Errors of [NewTarget] wrap it.
var ErrUnsupported = errors.New("unknown architecture or system")

// NewTarget makes a Target of Delve's target t, with the default table of sniffers. The error
// wraps [ErrUnsupported], or says why the modules cannot be listed. The caller closes the Target.
func NewTarget(t *proc.Target) (*Target, error) { return NewTargetWith(t, symbol.Options{}) }

// NewTargetWith is like [NewTarget], with options for the debug information of C, C++ and Rust:
// where its files are, what is kept of it. Their Root is the target's own.
func NewTargetWith(t *proc.Target, symbols symbol.Options) (*Target, error) {
	bi := t.BinInfo()
	a := arch.ByName(bi.Arch.Name)
	if a == nil || a.Go == nil || bi.GOOS != "linux" {
		return nil, fmt.Errorf("%s/%s: %w: linux/amd64 and linux/arm64 are known", bi.GOOS, bi.Arch.Name, ErrUnsupported)
	}
	d := &Target{
		Proc: t, Table: sniffer.Table(a),
		arch: a, memory: newMemory(t),
	}
	symbols.Root = func(*target.Module) string { return d.root }
	d.symbols = symbol.New(symbols)
	d.Table.AppendBase(&framebase.Sniffer{Symbols: d.symbols})
	if err := d.Refresh(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Refresh lists the modules anew. Call it when the process has run: libraries may have been loaded
// or unloaded, and code may have been made. Modules that have not moved stay, with all that is
// known of them. Threads, Delve's goroutines and memory need no Refresh: each stack reads them
// anew.
func (t *Target) Refresh() error {
	t.Table.Forget()
	t.goroutines.read, t.values = false, nil
	t.languages.stale, t.languages.warned = true, nil
	refresh := t.refreshLive
	if recorded(t.Proc) {
		refresh = t.refreshRecorded
	}
	err := refresh()
	t.view = logical.New(t, t.symbols)
	return err
}

// Arch returns the target's architecture.
func (t *Target) Arch() *arch.Arch { return t.arch }

// Memory returns the address space without Delve's breakpoints. For a core file it includes the
// code of the mapped files, which cores leave out. It keeps what it has read until the next stack,
// or [Target.Refresh].
func (t *Target) Memory() target.Memory { return t.seen }

// Modules returns the modules that were mapped at the last [Target.Refresh].
func (t *Target) Modules() *target.Modules { return t.modules }

// Warnings returns problems with files and goroutines so far, and with languages at this stop of
// the process, one sentence each, for the user.
func (t *Target) Warnings() (list []string) {
	if t.files != nil {
		list = t.files.Warnings()
	}
	if err := t.goroutines.partly; err != nil {
		list = append(list, err.Error())
	}
	return append(append(list, t.languages.failed...), t.languages.warned...)
}

// Close closes the files that were opened. Delve keeps the process.
func (t *Target) Close() error {
	err := t.symbols.Close()
	if t.files != nil {
		err = errors.Join(err, t.files.Close())
	}
	return err
}

// recorded reports whether there is no live process: Delve reads a core file, or replays one.
func recorded(t *proc.Target) bool {
	r, ok := t.Process.(interface{ Recorded() (bool, string) })
	if !ok {
		return false
	}
	is, _ := r.Recorded()
	return is
}
