//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"
	"fmt"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Target is a process or a core file that Delve controls. It serves one goroutine at a
// time, as Delve does. It implements [target.Target].
type Target struct {
	Proc  *proc.Target
	Table *frame.Table // asked for every stack; the caller may add sniffers, or take another

	// Name, where there is one, is asked what frames that are not Go's are called: a sniffer
	// may know more of them than files tell. It may ask all of the frame.
	Name func(*frame.Frame) (Name, bool)

	arch    *arch.Arch
	memory  *memory
	seen    target.Memory // what the engine reads: memory, in a recording with the files' code
	files   *sysroot.Files
	root    string // the folder below which the process's paths are; "" for this machine's own root
	modules *target.Modules
	maps    []procmaps.Mapping        // that modules were made of; nil in a recording
	known   map[string]*target.Module // of modules, by file and place
	symbols *symbol.Symbolizer

	goroutines goroutines
}

// ErrUnsupported says that Delve controls what the engine does not know, another
// architecture or system. Errors of [NewTarget] wrap it.
var ErrUnsupported = errors.New("unknown architecture or system")

// NewTarget makes a target of what Delve controls. The error says which architecture
// or system is not known. The caller closes the target.
func NewTarget(t *proc.Target) (*Target, error) {
	bi := t.BinInfo()
	var a *arch.Arch
	switch bi.Arch.Name {
	case "amd64":
		a = amd64.Arch
	case "arm64":
		a = arm64.Arch
	}
	if a == nil || bi.GOOS != "linux" {
		return nil, fmt.Errorf("%s/%s: %w: linux/amd64 and linux/arm64 are known", bi.GOOS, bi.Arch.Name, ErrUnsupported)
	}
	d := &Target{
		Proc: t, Table: sniffer.Table(a),
		arch: a, memory: newMemory(t),
	}
	d.symbols = symbol.New(symbol.Options{Root: func(*target.Module) string { return d.root }})
	if err := d.Refresh(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Refresh looks for modules anew, after the process has run: libraries may have come or
// gone, and code may have been made. Modules that are where they were, and what was learned
// of them, stay. For threads, Delve's goroutines and memory no call is needed: each stack asks
// for them anew.
func (t *Target) Refresh() error {
	t.Table.Forget()
	t.goroutines.read = false
	if recorded(t.Proc) {
		return t.refreshRecorded()
	}
	return t.refreshLive()
}

// Arch returns the architecture.
func (t *Target) Arch() *arch.Arch { return t.arch }

// Memory returns the address space without Delve's breakpoints in it. In a recording it
// has the code of the files that are mapped, which cores leave out. What was read is kept
// until the next stack, or [Target.Refresh].
func (t *Target) Memory() target.Memory { return t.seen }

// Modules returns what was mapped at the last [Target.Refresh].
func (t *Target) Modules() *target.Modules { return t.modules }

// Warnings returns what the user should know about the files and the goroutines: one sentence
// each.
func (t *Target) Warnings() (list []string) {
	if t.files != nil {
		list = t.files.Warnings()
	}
	if err := t.goroutines.partly; err != nil {
		list = append(list, err.Error())
	}
	return list
}

// Close lets go of the files that were opened. Delve keeps the process.
func (t *Target) Close() error {
	err := t.symbols.Close()
	if t.files != nil {
		err = errors.Join(err, t.files.Close())
	}
	return err
}

// recorded reports whether there is no process: Delve reads a core file, or replays.
func recorded(t *proc.Target) bool {
	r, ok := t.Process.(interface{ Recorded() (bool, string) })
	if !ok {
		return false
	}
	is, _ := r.Recorded()
	return is
}
