package bash

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	elffile "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds bash.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "bash" }

// Wants implements [language.Chooser]: bash is a small program.
func (Decorator) Wants(m *target.Module) bool { return m.IsProgram() }

var identity = elffile.Seldom("parse_and_execute_cleanup")

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil || !im.MayHaveSymbol(identity) { // it is said elsewhere that a file cannot be read
		return nil, nil
	}
	r := &runtime{module: m, image: im, bias: bias, executes: map[uint64]bool{}}
	version := r.symbol("dist_version")
	if version == 0 {
		return nil, nil
	}
	for name, at := range map[string]*uint64{
		"global_variables": &r.globals, "line_number": &r.line,
		"running_trap": &r.runningTrap, "signal_names": &r.signalNames, "last_made_pid": &r.lastMade, "jobs": &r.jobs, "js": &r.jobStats,
		"wait_for": &r.waitFor, "wait_builtin": &r.waitBuiltin, "command_substitute": &r.substitutes,
	} {
		if *at = r.symbol(name); *at == 0 {
			return nil, fmt.Errorf("it has no symbol %s", name)
		}
	}
	for _, name := range executes {
		r.executes[r.symbol(name)] = true
	}
	delete(r.executes, 0)
	if p.Arch.Makes == nil || p.Arch.PtrSize != 8 {
		return nil, errors.New("it is not known how to read bash on this processor")
	}
	reader := structs.New(p.Arch, p.Memory, &r.pages)
	defer reader.Free()
	release := reader.CString(reader.Pointer(version))
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("the release of bash: %w", err)
	}
	var major, minor int
	_, _ = fmt.Sscanf(release, "%d.%d", &major, &minor)
	head, ok := headOf(major, minor)
	if !ok {
		return nil, fmt.Errorf("the structures of bash %.20q are not known", release)
	}
	r.head = head
	r.begins = sync.OnceValue(func() []span { return r.functionsThatBegin(p.Arch) })
	return []language.Runtime{r}, nil
}

// runtime is bash in a process.
type runtime struct {
	module *target.Module
	image  *elffile.Image
	bias   uint64
	head   uint64 // see headOf

	globals, line                                      uint64 // the addresses of variables, called likewise
	runningTrap, signalNames, lastMade, jobs, jobStats uint64
	waitFor, waitBuiltin, substitutes                  uint64 // and of functions

	executes map[uint64]bool // the functions that execute commands, by their addresses
	begins   func() []span   // the functions that begin a call
	pages    pages.Spare
}

// span is a range of run-time addresses.
type span struct{ lo, hi uint64 }

func (s span) has(addr uint64) bool { return addr-s.lo < s.hi-s.lo }

// symbol returns the address of a symbol that bash exports, 0 if there is none.
func (r *runtime) symbol(name string) uint64 {
	if s, ok := r.image.Exported(name); ok {
		return s.Addr + r.bias
	}
	return 0
}

// The texts that the functions which begin a call use alone: execute_function and _evalfile, which
// 5.3 has renamed.
var texts = []string{"function_calling", "_evalfile", "evalfile_internal"}

// Bounds of what is looked through for them: places of a text, and bytes of a segment.
const (
	mostTexts   = 16
	mostSegment = 16 << 20
)

// functionsThatBegin returns the ranges of execute_function and _evalfile.
func (r *runtime) functionsThatBegin(a *arch.Arch) (list []span) {
	var addresses []uint64
	r.eachSegment(elf.PF_R, func(data []byte, start uint64) {
		for _, text := range texts {
			whole, from := []byte("\x00"+text+"\x00"), 0
			for range mostTexts {
				i := bytes.Index(data[from:], whole)
				if i < 0 {
					break
				}
				from += i + 1
				addresses = append(addresses, start+uint64(from))
			}
		}
	})
	table := unwindtables.CFIOf(r.module, a)
	r.eachSegment(elf.PF_R|elf.PF_X, func(data []byte, start uint64) {
		for _, address := range addresses {
			for _, offset := range a.Makes(data, start, address) {
				lo, hi, _, ok := table.Function(start + uint64(offset) + r.bias)
				if f := (span{lo, hi}); ok && !slices.Contains(list, f) {
					list = append(list, f)
				}
			}
		}
	})
	return list
}

// eachSegment calls do for the loaded segments of the file that have these permissions.
func (r *runtime) eachSegment(flags elf.ProgFlag, do func(data []byte, start uint64)) {
	for _, p := range r.image.Progs {
		if p.Type == elf.PT_LOAD && p.Flags == flags {
			do(r.image.Loaded(p.Vaddr, min(p.Filesz, mostSegment)), p.Vaddr)
		}
	}
}
