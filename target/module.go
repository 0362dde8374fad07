package target

import (
	"debug/elf"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	peimage "github.com/sfwalk/sfwalk/format/pe"
)

// Module is one file as it is mapped in a target, or an object of code that the
// process has made and registered.
type Module struct {
	Path     string    // as the target names it; "[vdso]" for the kernel's
	Mappings []Mapping // ascending by Lo, at least one

	// Identity is of a module of a crash report, whose file need not be at hand; nil for others. It
	// is set before the module is used.
	Identity *Identity
	// OpenPE opens the PE image of a module of Windows. It is set before the module is used, and
	// nil for other modules. The module calls it at most once.
	OpenPE func() (*peimage.Image, error)

	open    func() (*elfimage.Image, error)
	placed  bool // it has no file: the image, of memory, has the target's addresses, or its bias is set with it
	whole   bool // the file's first loadable segment begins where the first mapping does
	shared  bool // it is shared memory, which has a name and can hold anything
	doubted bool // its code may be another than the image's: see Doubted
	once    sync.Once
	image   *elfimage.Image
	bias    uint64
	err     error
	opened  atomic.Bool

	peOnce sync.Once
	pe     *peimage.Image
	peErr  error

	memo   memos
	budget *elfimage.Budget // that its image joins; nil of a module that is in no list
}

// Identity has the names by which a module's symbols are found where its file is not at hand.
type Identity struct {
	Base      uint64 // the run-time address that symbol files count from
	DebugFile string // the name of the file with the symbols, without its folders: "ntdll.pdb"; "" if it is not known
	DebugID   string // Breakpad's identifier of that file; "" if it is not known
	BuildID   string // in hexadecimal; "" if it is not known
}

// NewModule describes a module. The module calls open at most once, when its image is first asked
// for. If open is nil, or returns neither an image nor an error, the module has no file.
func NewModule(path string, mappings []Mapping, open func() (*elfimage.Image, error)) *Module {
	return &Module{Path: path, Mappings: mappings, open: open, shared: IsShared(path)}
}

// NewRegistered describes an object that the process has registered ([Modules.Register]). The
// addresses in its image are the target's: its load bias is 0. mappings are the code that the
// object describes.
func NewRegistered(path string, mappings []Mapping, open func() (*elfimage.Image, error)) *Module {
	return &Module{Path: path, Mappings: mappings, open: open, placed: true}
}

// NewWhole describes a module of which the target knows where it begins and ends, but not where its
// segments are: the file's first loadable segment begins where the first mapping does.
func NewWhole(path string, mappings []Mapping, open func() (*elfimage.Image, error)) *Module {
	return &Module{Path: path, Mappings: mappings, open: open, whole: true}
}

// IsShared reports whether a path is what the kernel calls shared memory that is no
// file's: of memfd_create(2), of mmap(2) with MAP_SHARED|MAP_ANONYMOUS or MAP_HUGETLB, of shmat(2).
func IsShared(path string) bool {
	for _, prefix := range [...]string{"/memfd:", "/dev/zero", "/dev/shm/", "/SYSV", "/anon_hugepage"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// Registered reports whether the module is an object that the process has registered, or a program
// in memory of no file: its memory is all that there is of it.
func (m *Module) Registered() bool { return m.placed }

// Lo returns the module's lowest mapped address, 0 where nothing is.
func (m *Module) Lo() uint64 {
	if len(m.Mappings) == 0 {
		return 0
	}
	return m.Mappings[0].Lo
}

// Base returns the address at which the module begins, as far as the target knows: Identity's base,
// or Lo.
func (m *Module) Base() uint64 {
	if m.Identity != nil {
		return m.Identity.Base
	}
	return m.Lo()
}

// Hi returns the first address behind the module's highest mapping, 0 where there is none.
func (m *Module) Hi() uint64 {
	if len(m.Mappings) == 0 {
		return 0
	}
	return m.Mappings[len(m.Mappings)-1].Hi
}

// Image returns the module's ELF image and its load bias: an address in the target (run time) is
// the image's (link time) plus bias.
func (m *Module) Image() (im *elfimage.Image, bias uint64, err error) {
	im, bias, err = m.PeekImage()
	if !m.opened.Load() {
		m.opened.Store(true)
	}
	return im, bias, err
}

// PeekImage is Image, and leaves [Module.ImageUsed] as it is. It is for callers that look into all
// modules for something that most of them lack.
func (m *Module) PeekImage() (im *elfimage.Image, bias uint64, err error) {
	m.once.Do(m.load)
	return m.image, m.bias, m.err
}

// ImageUsed reports whether Image has been called.
func (m *Module) ImageUsed() bool { return m.opened.Load() }

func (m *Module) load() {
	if m.open == nil {
		m.err = fmt.Errorf("%s: no file", m.Path)
		return
	}
	if m.image, m.err = m.open(); m.err != nil {
		return
	}
	if m.image == nil {
		m.err = fmt.Errorf("%s: no file", m.Path)
		return
	}
	m.image.Join(m.budget)
	if m.placed {
		return
	}
	if m.whole {
		m.bias = m.Lo() - firstLoaded(m.image)
		return
	}
	if m.bias, m.err = LoadBias(m.image, m.Mappings); m.err != nil {
		m.err = fmt.Errorf("%s: %w", m.Path, m.err)
		m.image = nil
	}
}

// PE returns the PE image of a module of Windows: an address in it (RVA) is the target's, less
// [Module.Base].
func (m *Module) PE() (*peimage.Image, error) {
	m.peOnce.Do(func() {
		if m.OpenPE == nil {
			m.peErr = fmt.Errorf("%s: %w", m.Path, peimage.ErrNotPE)
			return
		}
		m.pe, m.peErr = m.OpenPE()
	})
	return m.pe, m.peErr
}

// BuildID returns the build ID of the module's file in hexadecimal, or "" where
// it has none or cannot be opened and the target does not know it.
func (m *Module) BuildID() string {
	if im, _, err := m.Image(); err == nil {
		return im.BuildID
	}
	if m.Identity != nil {
		return m.Identity.BuildID
	}
	return ""
}

// Function returns the run-time range [lo, hi) of the function whose symbol covers addr.
func (m *Module) Function(addr uint64) (lo, hi uint64, ok bool) {
	im, bias, err := m.Image()
	if err != nil {
		return 0, 0, false
	}
	s, ok := im.Symbols().Find(addr - bias)
	return s.Addr + bias, s.Addr + s.Size + bias, ok
}

// Stub returns the run-time range [lo, hi) of the linkage stub that holds addr: an entry of the
// procedure linkage table, by which a module calls a function of another one.
func (m *Module) Stub(addr uint64) (lo, hi uint64, ok bool) {
	im, bias, err := m.Image()
	if err != nil {
		return 0, 0, false
	}
	if lo, hi, ok = im.Stub(addr - bias); ok {
		return lo + bias, hi + bias, true
	}
	return 0, 0, false
}

// StubSection is [elfimage.Image.StubSection] for run-time addresses.
func (m *Module) StubSection(addr uint64) (lo, hi uint64, ok bool) {
	im, bias, err := m.Image()
	if err != nil {
		return 0, 0, false
	}
	lo, hi, ok = im.StubSection(addr - bias)
	return lo + bias, hi + bias, ok
}

// FunctionEntry is [elfimage.Image.FunctionEntry] for run-time addresses.
func (m *Module) FunctionEntry(addr uint64) (entry uint64, ok bool) {
	im, bias, err := m.Image()
	if err != nil {
		return 0, false
	}
	if entry, ok = im.FunctionEntry(addr - bias); ok {
		return entry + bias, true
	}
	return 0, false
}

// Memo returns what build has returned for this module and key. It calls build when key is first
// asked for. A sniffer calls Memo to keep what it has read of a module (an opened section) for as
// long as the module lives. Concurrent callers may both build; one result is kept.
func (m *Module) Memo(key any, build func() any) any { return m.memo.get(key, build) }

// IsProgram reports whether the module is a program, and no library, as the headers of its file
// say.
func (m *Module) IsProgram() bool {
	return m.Memo(isProgram{}, func() any {
		im, _, err := m.PeekImage()
		return err == nil && !m.Registered() && im.IsProgram()
	}).(bool)
}

// isProgram is the key of what IsProgram has found.
type isProgram struct{}

// firstLoaded returns the link-time address of the page where the first loadable segment begins.
func firstLoaded(im *elfimage.Image) uint64 {
	const page = 0xfff
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD {
			return p.Vaddr &^ page
		}
	}
	return 0
}

// LoadBias matches an image's loadable segments with where the file is mapped, and returns what to
// add to the image's addresses. It prefers an executable mapping that begins where an executable
// segment does, for the dynamic linker maps a page that two segments share twice. Next come
// mappings that overlap an executable segment (split by mprotect, larger pages), then other
// segments. The error says that no segment is mapped.
func LoadBias(im *elfimage.Image, mappings []Mapping) (uint64, error) {
	const page = 0xfff
	for _, exec := range []bool{true, false} {
		for _, exact := range []bool{true, false} {
			for _, p := range im.Progs {
				if p.Type != elf.PT_LOAD || exec && p.Flags&elf.PF_X == 0 {
					continue
				}
				for _, x := range mappings {
					if exec && !x.Exec || exact && x.Offset != p.Off&^page {
						continue
					}
					if x.Offset < p.Off+p.Filesz && p.Off < x.Offset+(x.Hi-x.Lo) {
						return x.Lo - x.Offset + p.Off - p.Vaddr, nil
					}
				}
			}
		}
	}
	return 0, fmt.Errorf("no segment of the file is mapped")
}
