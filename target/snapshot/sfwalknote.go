package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// The note that makes a core file a snapshot. Debuggers skip owners and types that they do not
// know. Some readers look at the type alone; none of them knows this one.
const (
	NoteOwner        = "SFWALK"
	NoteType  uint32 = 0x5357414c
	// Version is the version of the note that this package writes, and the latest
	// that it reads.
	Version = 1
)

// maxNote bounds the note: a process of 100,000 threads needs less. That of a packed file has
// usualNote bytes at most, and as many more as the file.
const maxNote, usualNote = 16 << 20, 1 << 20

// note is the contents of the note, a JSON object with all that a core file cannot say. Fields are
// added, never renamed. A change that old readers must not overlook gets a new version.
type note struct {
	Version    int       `json:"version"`
	Taken      time.Time `json:"taken"`
	PauseNS    int64     `json:"pause_ns"`
	Consistent bool      `json:"consistent"`
	// MonotonicNS is Snapshot.Monotonic.
	MonotonicNS int64        `json:"monotonic_ns,omitempty"`
	Exe         string       `json:"exe"`
	CodeMask    hex          `json:"code_mask"` // bits of a code address that belong to the address
	Threads     []threadNote `json:"threads"`   // in the order of the NT_PRSTATUS notes
	Modules     []moduleNote `json:"modules"`
	Late        []lateNote   `json:"late,omitempty"`
	// Tasks is Snapshot.Tasks.
	Tasks json.RawMessage `json:"tasks,omitempty"`
}

type threadNote struct {
	TID     int    `json:"tid"`
	Name    string `json:"name"`
	HeldNS  int64  `json:"held_ns"`
	Error   string `json:"error,omitempty"`
	Kernel  bool   `json:"kernel,omitempty"` // Error wraps target.ErrNoUserContext
	MovedOn bool   `json:"moved_on,omitempty"`
	// Registers names the known registers; nil stands for all that the core has.
	Registers []string `json:"registers,omitzero"`
	// Waits is Thread.Waits.
	Waits json.RawMessage `json:"waits,omitempty"`
	// Languages is Thread.Languages.
	Languages json.RawMessage `json:"languages,omitempty"`
}

type moduleNote struct {
	Path    string `json:"path"`
	Address hex    `json:"address"`
	BuildID string `json:"build_id"`
}

// lateNote is a range of memory of a later moment: see Block.Late.
type lateNote struct {
	Address hex    `json:"address"`
	Size    uint64 `json:"size"`
}

func (l *lateNote) end() uint64 { return uint64(l.Address) + l.Size }

// hex is a number that JSON has as "0x…", because many readers of JSON keep only 53 bits.
type hex uint64

func (h hex) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%#x", uint64(h)), nil }

func (h *hex) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 0, 64)
	*h = hex(v)
	return err
}

// note makes the note of a snapshot.
func (s *Snapshot) note() ([]byte, error) {
	n := note{
		Version: Version, Taken: s.Taken.UTC(), PauseNS: int64(s.Pause), Consistent: s.Consistent, MonotonicNS: int64(s.Monotonic), Tasks: s.Tasks,
		Exe: s.Exe, CodeMask: hex(s.Arch.AddressMask), Threads: []threadNote{}, Modules: []moduleNote{},
	}
	all := kernelRegisters(s.Arch)
	for i := range s.Threads {
		t := &s.Threads[i]
		th := threadNote{TID: t.TID, Name: t.Comm, HeldNS: int64(t.Held), MovedOn: t.MovedOn, Waits: t.Waits, Languages: t.Languages}
		if t.Err != nil {
			th.Error, th.Kernel = t.Err.Error(), errors.Is(t.Err, target.ErrNoUserContext)
		}
		if slices.ContainsFunc(all, func(r arch.KernelReg) bool { return !t.Regs.Known.Has(r.Reg) }) {
			th.Registers = []string{}
			for _, r := range s.Arch.Regs {
				if t.Regs.Known.Has(r.Num) {
					th.Registers = append(th.Registers, r.Name)
				}
			}
		}
		n.Threads = append(n.Threads, th)
	}
	for _, m := range s.Modules {
		n.Modules = append(n.Modules, moduleNote{m.Path, hex(m.Lo), m.BuildID})
	}
	for i := range s.Memory {
		if b := &s.Memory[i]; b.Late {
			if last := len(n.Late) - 1; last >= 0 && n.Late[last].end() == b.Addr {
				n.Late[last].Size += uint64(len(b.Data))
			} else {
				n.Late = append(n.Late, lateNote{hex(b.Addr), uint64(len(b.Data))})
			}
		}
	}
	text, err := json.Marshal(&n)
	if err == nil && len(text) > maxNote {
		err = fmt.Errorf("what there is to say of %d threads and %d modules is %d bytes, more than %d", len(s.Threads), len(s.Modules), len(text), maxNote)
	}
	return text, err
}

// kernelRegisters returns the registers that the kernel's register sets always have.
func kernelRegisters(a *arch.Arch) (list []arch.KernelReg) {
	for _, k := range a.KernelRegs {
		list = append(list, k.Regs...)
	}
	return list
}

// Errors of [Open], which wraps them; test with errors.Is.
var (
	// ErrNotSnapshot says that a core file is no snapshot: the note is missing or cut off.
	ErrNotSnapshot = errors.New("not a snapshot")
	// ErrVersion says that a snapshot is of a later version than this package reads.
	ErrVersion = errors.New("made by a later version of sfwalk")
)

// parseNote reads the note.
func parseNote(text []byte) (*note, error) {
	var v struct{ Version int }
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("its note of owner %s is broken: %w: %w", NoteOwner, err, ErrNotSnapshot)
	}
	switch {
	case v.Version > Version:
		return nil, fmt.Errorf("it has version %d of the snapshot's note, this program reads up to %d: %w: update sfwalk, or print what every core file has by 'sfwalk core'", v.Version, Version, ErrVersion)
	case v.Version < 1:
		return nil, fmt.Errorf("its note of owner %s has version %d: %w", NoteOwner, v.Version, ErrNotSnapshot)
	}
	n := new(note)
	if err := json.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("its note of owner %s is broken: %w: %w", NoteOwner, err, ErrNotSnapshot)
	}
	return n, nil
}

// kernelThread is an error that wraps [target.ErrNoUserContext].
type kernelThread struct{ error }

// Unwrap returns [target.ErrNoUserContext].
func (kernelThread) Unwrap() error { return target.ErrNoUserContext }

// apply sets the fields of t that the thread's note has.
func (n *threadNote) apply(a *arch.Arch, t *Thread) {
	t.Comm, t.Held, t.MovedOn = n.Name, time.Duration(n.HeldNS), n.MovedOn
	t.Waits, t.Languages = n.Waits, n.Languages
	if n.Error != "" {
		t.Err = errors.New(strings.ToValidUTF8(n.Error, "?"))
		if n.Kernel {
			t.Err = kernelThread{t.Err}
		}
	}
	if n.Registers == nil {
		return
	}
	var known arch.RegSet
	for _, name := range n.Registers {
		if i := slices.IndexFunc(a.Regs, func(r arch.RegInfo) bool { return r.Name == name }); i >= 0 {
			known.Add(a.Regs[i].Num)
		}
	}
	var regs arch.Registers
	for r, v := range t.Regs.Value {
		if reg := trad.Reg(r); known.Has(reg) && t.Regs.Known.Has(reg) {
			regs.Known.Add(reg)
			regs.Value[r] = v
		}
	}
	t.Regs = regs
}
