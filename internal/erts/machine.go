package erts

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"strconv"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Machine is the run time system of a process. It is safe for concurrent use.
type Machine struct {
	*Layout
	Module *target.Module
	// Version is the version of the run time system, as "13.1.5"; Otp is the release of OTP.
	Version string
	Otp     int
	// JIT says that Erlang's code is compiled; else an interpreter runs it.
	JIT bool
	// FramePointers says that each Erlang frame has the caller's frame pointer inward of its return
	// address.
	FramePointers bool
	// NormalExit is the address to which the outermost function of a process returns.
	NormalExit uint64
	Arch       *arch.Arch

	image   *elfimage.Image
	found   map[string]uint64 // variables that are not exported
	bias    uint64
	ranges  uint64 // the address of the tables of modules
	modules codes
	shared  fragments
	traces  map[uint64]uint64 // the words of frames that trace, by where they return to
}

// The errors of [Of].
var (
	ErrNone  = errors.New("no run time system of Erlang is mapped")
	errOther = errors.New("the run time system of Erlang is of another kind of processor than is known")
)

// marker is a symbol that run time systems of Erlang export, and own one that all do.
var (
	marker = elfimage.Seldom("etp_otp_release")
	own    = elfimage.Seldom(ownFunction)
)

// In reports whether a module is a run time system of Erlang. A module that is none costs next to
// nothing.
func In(m *target.Module) bool {
	im, _, err := m.PeekImage()
	return err == nil && (im.MayHaveSymbol(marker) && len(im.Lookup(marker, 1)) > 0 || im.MayHaveSymbol(own) && len(im.Lookup(own, 1)) > 0)
}

type key struct{}

type read struct {
	machine *Machine
	err     error
}

// Of returns the run time system of a process. It is read once for all who ask.
func Of(modules *target.Modules, a *arch.Arch, r Reader) (*Machine, error) {
	x := modules.Memo(key{}, func() any {
		for _, m := range modules.All() {
			if !In(m) {
				continue
			}
			if machine, err := open(m, a, r); machine != nil || err != nil {
				return read{machine, err}
			}
		}
		return read{nil, ErrNone}
	}).(read)
	return x.machine, x.err
}

// Symbol returns the address of a symbol, or of a variable that was found without; 0 if there is
// none.
func (m *Machine) Symbol(name string) uint64 {
	if at := m.found[name]; at != 0 || m.image == nil {
		return at
	}
	s := m.image.Lookup(name, 1)
	if len(s) == 0 {
		return 0
	}
	return s[0].Addr + m.bias
}

// open reads what the run time system of a module tells of itself.
func open(module *target.Module, a *arch.Arch, r Reader) (*Machine, error) {
	im, bias, err := module.Image()
	if err != nil {
		return nil, err
	}
	if a.PtrSize != 8 {
		return nil, errOther
	}
	m := &Machine{Module: module, Arch: a, image: im, bias: bias}
	number := func(name string, size int) uint64 {
		at := m.Symbol(name)
		if at == 0 {
			return 0
		}
		return r.Uint(at, size)
	}
	text := func(name string) string {
		var p [16]byte
		at := m.Symbol(name)
		if at == 0 || !r.Bytes(at, p[:8]) {
			return ""
		}
		b, _, _ := bytes.Cut(p[:8], []byte{0})
		return string(b)
	}
	m.Version = text("etp_erts_version")
	exported := m.Symbol(marker) != 0
	if !exported {
		m.found = map[string]uint64{}
		if m.Otp = m.release(); m.Otp == 0 {
			return nil, nil // it is no run time system
		}
	} else if m.Otp, err = strconv.Atoi(text(marker)); err != nil || !r.OK() {
		return nil, fmt.Errorf("the run time system does not tell its release: %w", errors.Join(err, r.Err()))
	}
	m.JIT = number("etp_beamasm", 4) == 1
	m.FramePointers = number("erts_frame_layout", 4) == 1
	m.NormalExit = number("beam_normal_exit", 8)
	if err := r.Err(); err != nil {
		return nil, err
	}
	if !exported {
		s, err := m.newSearch(r)
		if err != nil {
			return nil, err
		}
		m.JIT = s.descriptor()
	}
	flavour := "emu"
	if m.JIT {
		flavour = "jit"
	}
	var wrong error
	for _, l := range nearest(layouts[flavour](), m.Otp) {
		m.Layout = l
		if wrong = nil; !exported {
			wrong = m.hidden(r)
		}
		if wrong == nil {
			wrong = m.check(r)
		}
		if wrong == nil {
			if !m.JIT {
				m.readTraces(r)
			}
			return m, nil
		}
	}
	return nil, fmt.Errorf("OTP %d (%s): %w", m.Otp, flavour, wrong)
}

// check holds a layout against the process, and finds the tables of modules by it.
func (m *Machine) check(r Reader) error {
	for _, name := range [...]string{"erts_atom_table", "erts_proc"} {
		if m.Symbol(name) == 0 {
			return fmt.Errorf("the run time system does not export %s", name)
		}
	}
	const process = "erts_invalid_process"
	if s := m.image.Lookup(process, 1); len(s) > 0 && s[0].Size != m.Of("process.bytes") {
		return fmt.Errorf("its structures are not the known ones: %s has %d bytes, want %d", process, s[0].Size, m.Of("process.bytes"))
	}
	name, ok := m.Atom(r, atomTrue)
	if !ok || name != "true" {
		r.Err()
		return errors.New("its structures are not the known ones: the table of atoms cannot be read")
	}
	return m.findRanges(r)
}

// writable returns where the run time system's variables are.
func (m *Machine) writable() (lo, hi uint64) {
	for _, p := range m.image.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W != 0 && p.Memsz > 0 {
			lo, hi = p.Vaddr+m.bias, p.Vaddr+m.bias+p.Memsz
		}
	}
	return lo, hi
}

// Bounds returns where a function of the run time system itself has its code; zeros if that is not
// known.
func (m *Machine) Bounds(name string) (lo, hi uint64) {
	if m.image == nil {
		return 0, 0
	}
	s := m.image.Lookup(name, 1)
	if len(s) == 0 {
		return 0, 0
	}
	return s[0].Addr + m.bias, s[0].Addr + m.bias + s[0].Size
}

// TraceWords returns how many words a frame that traces a function has behind its return address
// that look like return addresses, or not: they are skipped. name is the [Fragment]'s.
func (m *Machine) TraceWords(name string) uint64 {
	if size, ok := traced[name]; ok {
		return m.Of(size)
	}
	return 0
}

// traced are the sizes of frames that trace functions, by the names of what they return to.
var traced = map[string]string{
	"return_trace": "traced.return", "exception_trace": "traced.return",
	"return_time_trace": "traced.time", "call_trace_return": "traced.time", // up to OTP 26, and from 27 on
	"return_to_trace": "traced.return_to",
}

// readTraces reads where such frames return to in interpreted code.
func (m *Machine) readTraces(r Reader) {
	m.traces = map[uint64]uint64{}
	for name := range traced {
		if at := m.Symbol("beam_" + name); at != 0 {
			m.traces[r.Pointer(at)] = m.TraceWords(name)
		}
	}
	r.Err()
	delete(m.traces, 0)
}

// Known returns a machine of a release whose variables are known: nothing is read. The table of
// modules is called "ranges". For tests.
func Known(flavour string, release int, a *arch.Arch, variables map[string]uint64) *Machine {
	return &Machine{Layout: LayoutOf(flavour, release), Otp: release, JIT: flavour == "jit", Arch: a, found: variables, ranges: variables["ranges"]}
}
