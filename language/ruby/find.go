package ruby

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/owncode"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds CRuby's run times.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "ruby" }

// versionSymbol is the constant that has the release, as a text: "3.3.8".
var versionSymbol = elf.Seldom("ruby_version")

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil || !im.MayHaveSymbol(versionSymbol) || threadlocal.Block(im) == nil {
		return nil, nil
	}
	major, minor, ok := release(p, im, bias)
	if !ok {
		return nil, nil
	}
	if p.Arch.PtrSize != 8 || p.Arch.Order != binary.ByteOrder(binary.LittleEndian) {
		return nil, errors.New("the layout of Ruby is known of 64-bit little-endian processors alone")
	}
	r := &runtime{arch: p.Arch, module: m, image: im, bias: bias, storage: threadlocal.New(p.Arch, p.Memory, p.Modules), own: owncode.New(m, im, bias, isOwn)}
	if r.layout, err = layoutOf(major, minor); err != nil {
		return nil, err
	}
	if s, ok := im.ThreadLocal("ruby_current_ec"); ok {
		r.slot.Store(&s.Addr)
	}
	for name, variable := range map[string]*atomic.Pointer[uint64]{
		"ruby_global_symbols": &r.symbols, "ruby_current_vm_ptr": &r.machine, "first_jit_cont": &r.fibers,
	} {
		for _, s := range im.Lookup(name, 1) {
			at := s.Addr + bias
			variable.Store(&at)
		}
	}
	for _, s := range im.Lookup("rb_vm_exec", 1) {
		r.exec.Store(r.function(s.Addr + bias))
	}
	return []language.Runtime{r}, nil
}

var versionText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d{1,2})\.(\d{1,2})\.\d`) })

// release returns the release that a module says it is.
func release(p *language.Process, im *elf.Image, bias uint64) (major, minor int, ok bool) {
	for _, s := range im.Lookup(versionSymbol, 1) {
		var text [16]byte
		if im.ReadLoaded(s.Addr, text[:]) < len(text) {
			if n, _ := p.Memory.ReadMemory(s.Addr+bias, text[:]); n < len(text) {
				break
			}
		}
		if found := versionText().FindSubmatch(text[:]); found != nil {
			major, _ = strconv.Atoi(string(found[1]))
			minor, _ = strconv.Atoi(string(found[2]))
			return major, minor, true
		}
	}
	return 0, 0, false
}

// runtime is a run time of CRuby.
type runtime struct {
	*layout
	arch    *arch.Arch
	module  *target.Module
	image   *elf.Image
	bias    uint64
	storage *threadlocal.Finder
	own     *owncode.Code
	pages   pages.Spare
	ids     threadIDs

	// What is found out when it is needed first, nil before that.
	slot    atomic.Pointer[uint64] // the offset of ruby_current_ec in the module's thread-local storage
	symbols atomic.Pointer[uint64] // the address of the table of symbols; 0 if there is none
	exec    atomic.Pointer[span]   // the function that calls the evaluator
	machine atomic.Pointer[uint64] // the address of ruby_current_vm_ptr; 0 if it was not found
	fibers  atomic.Pointer[uint64] // the address of first_jit_cont; 0 if it was not found
}

func (r *runtime) String() string { return fmt.Sprintf("Ruby %d.%d", r.major, r.minor) }
