package perl

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/owncode"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds Perl's run times.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "perl" }

var runLoop = elf.Seldom("Perl_runops_standard")

// oldest is the oldest release whose contexts are as this package reads them, 5.oldest.
const oldest = 28

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil || !im.MayHaveSymbol(runLoop) { // it is said elsewhere that a file cannot be read
		return nil, nil
	}
	r := &runtime{arch: p.Arch, module: m, image: im, bias: bias, own: owncode.New(m, im, bias, onlyCalls)}
	for _, name := range []string{runLoop, "Perl_runops_debug"} {
		if s := r.symbol(name); s.hi > s.lo {
			r.loops = append(r.loops, s)
		}
	}
	if len(r.loops) == 0 {
		return nil, nil // the file calls perl, and is not perl
	}
	minor, ok := r.constant("PL_version", 1)
	switch {
	case !ok:
		return nil, errors.New("nothing tells the release of Perl")
	case minor < oldest:
		return nil, fmt.Errorf("the structures of Perl 5.%d are not known, but of 5.%d and later", minor, oldest)
	case p.Arch.PtrSize != 8 || p.Arch.Order != binary.ByteOrder(binary.LittleEndian):
		return nil, errors.New("the structures of Perl are known of 64-bit little-endian processors alone")
	}
	r.variables = [variables]uint64{}
	for i, name := range variableNames {
		r.variables[i] = r.symbol(name).lo
	}
	threads := r.variables[curStackInfo] == 0
	l, err := layoutOf(int(minor), threads)
	if l == nil {
		return nil, err
	}
	r.layout = l
	if threads {
		if size, ok := r.constant("PL_interp_size", 2); !ok || size != l.Interpreter {
			return nil, fmt.Errorf("this build of Perl 5.%d is not known: its struct interpreter has %d bytes, and not %d", minor, size, l.Interpreter)
		}
	}
	r.entersub = r.calling(p)
	for _, name := range []string{"perl_run", "perl_parse", "perl_destruct"} {
		r.hosts = append(r.hosts, r.symbol(name))
	}
	return []language.Runtime{r}, err
}

// The variables of a perl without threads.
const (
	stackTop = iota
	curOp
	curCop
	curStackInfo
	topEnv
	startEnv
	variables
)

var variableNames = [variables]string{"PL_stack_sp", "PL_op", "PL_curcop", "PL_curstackinfo", "PL_top_env", "PL_start_env"}

// runtime is perl, or libperl, in a process.
type runtime struct {
	arch      *arch.Arch
	module    *target.Module
	image     *elf.Image
	bias      uint64
	layout    *layout
	loops     []span            // the run loops
	hosts     []span            // what runs a program outside of its run loops
	entersub  span              // the function that calls subs
	variables [variables]uint64 // their addresses; 0 in a perl with threads

	own   *owncode.Code
	pages pages.Spare
}

// span is a range of run-time addresses.
type span struct{ lo, hi uint64 }

func (s span) has(addr uint64) bool { return addr-s.lo < s.hi-s.lo }

// calling returns the function that calls subs. From 5.38 on it has no name; the table of functions
// of ops has its address.
func (r *runtime) calling(p *language.Process) span {
	s := r.symbol("Perl_pp_entersub")
	table := r.symbol("PL_ppaddr").lo
	if s.hi > s.lo || table == 0 || r.layout.OpEntersub == absent {
		return s
	}
	var b [8]byte
	if n, _ := p.Memory.ReadMemory(table+8*r.layout.OpEntersub, b[:]); n < len(b) {
		return s
	}
	lo, hi, _, _ := unwindtables.CFIOf(r.module, r.arch).Function(r.arch.Order.Uint64(b[:]))
	return span{lo, hi}
}

// symbol returns the range of a symbol, an empty one at 0 if there is none.
func (r *runtime) symbol(name string) span {
	for _, s := range r.image.Lookup(name, 1) {
		return span{s.Addr + r.bias, s.Addr + s.Size + r.bias}
	}
	return span{}
}

// constant returns a number of 1 or 2 bytes that the file has.
func (r *runtime) constant(name string, size int) (n uint64, ok bool) {
	found := r.image.Lookup(name, 1)
	var b [2]byte
	if len(found) == 0 || r.image.ReadLoaded(found[0].Addr, b[:size]) < size {
		return 0, false
	}
	if size == 1 {
		return uint64(b[0]), true
	}
	return uint64(r.arch.Order.Uint16(b[:])), true
}

// inLoop reports whether an address is in a run loop.
func (r *runtime) inLoop(pc uint64) bool { return anyHas(r.loops, pc) }

func anyHas(list []span, pc uint64) bool {
	for _, s := range list {
		if s.has(pc) {
			return true
		}
	}
	return false
}
