package report

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/jitname"
	"github.com/sfwalk/sfwalk/internal/perfmap"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
)

// jitNames are the names that a live process has given the code that it has made, in its perf map.
// The map is opened when the first address without another name is looked up. A nil *jitNames has
// none.
type jitNames struct {
	pid int

	mu     sync.Mutex
	opened bool
	names  *perfmap.Map // nil if there is none
	err    error        // why it is not used
}

// newJITNames returns the names of a process, if it lives on this machine.
func newJITNames(p hosts.Process) *jitNames {
	if !p.Live || p.PID <= 0 {
		return nil
	}
	return &jitNames{pid: p.PID}
}

// find returns the name of the code at an address.
func (j *jitNames) find(addr uint64) (name logical.Name, ok bool) {
	if j == nil {
		return name, false
	}
	names := j.open()
	if names == nil {
		return name, false
	}
	lo, text, ok := names.Find(addr)
	if text = jitname.Readable(text); !ok || text == "" {
		return name, false
	}
	at := jitname.Split(text)
	return logical.Name{Lo: lo, Function: at.Function, File: at.File, Line: at.Line}, true
}

func (j *jitNames) open() *perfmap.Map {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.opened {
		j.opened = true
		f, err := perfmap.OpenOf(j.pid)
		switch {
		case err == nil:
			j.names = perfmap.NewMap(f)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errors.ErrUnsupported):
			j.err = err
		}
	}
	return j.names
}

// close closes the map.
func (j *jitNames) close() {
	if j != nil && j.names != nil {
		j.names.Close()
	}
}

// warnings says what of the map is not used.
func (j *jitNames) warnings() []string {
	if j == nil {
		return nil
	}
	err := j.err
	if j.names != nil {
		err = j.names.Err()
	}
	if err == nil {
		return nil
	}
	return []string{fmt.Sprintf("names of code that process %d has made are not used: %v", j.pid, err)}
}

// nameOf returns a name that no file has for f or its code, which is at the place at: a plug-in's,
// or else one from the perf map.
func (w *Walker) nameOf(f *frame.Frame, at *symbol.Location) (logical.Name, bool) {
	if name, ok := sniffers.NameOf(w.plugins, f, at.Named()); ok {
		return name, true
	}
	if at.Function != "" && (at.Module == nil || !at.Module.Doubted()) || f.Type() == frame.SigTramp {
		return logical.Name{}, false
	}
	return w.jit.find(f.AddressInBlock())
}
