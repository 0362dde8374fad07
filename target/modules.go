package target

import (
	"debug/elf"
	"io"
	"sort"
	"sync/atomic"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// Mapping is a contiguous range of addresses that shares one origin.
type Mapping struct {
	Lo, Hi uint64 // [Lo, Hi)
	Offset uint64 // of Lo in the mapped file, bytes
	Exec   bool   // code may run here
	Kernel string // the kernel's name for code that it has mapped itself, but for the vDSO: "[vsyscall]", "[uprobes]"
}

// Modules is what is mapped in a target at one moment, and the code that the process
// has made and registered. It does not change; a target whose modules have changed
// gives another one. A nil *Modules is an empty list.
type Modules struct {
	// Generation differs between any two Modules of this program. Caches compare it, so that they
	// never use for one what they learned from another.
	Generation uint64

	// ProbeCode reports whether there may be code at an address that no mapping holds. Targets set
	// it that cannot list all their mappings; for others it is nil.
	ProbeCode func(addr uint64) bool

	// Memory is the process's memory as it is when it is read. Sniffers read tables of run-time
	// systems in it, which belong to no thread's stack. It may be nil: see [Modules.MemoryOr].
	Memory Memory

	// Present is the memory that the process really has: none that is read from mapped files in its
	// place. It tells whether code in memory of no file is a copy of a file's. If it is nil, Memory
	// serves.
	Present Memory

	// DebugFile returns the image of a module's separate debug file, nil if there is none. It is
	// set before the first stack is walked, or stays nil: then nobody looks for such files.
	DebugFile func(*Module) *elfimage.Image

	// NamedFile opens a file that the process names, by the path that it has for the process, with
	// the rights of the process's user: run-time systems read files that they do not map. The
	// caller closes it. It is set before the first stack is walked; nil where there are no such
	// files.
	NamedFile func(path string) (io.ReadCloser, error)

	list  []*Module // ascending by Lo
	spans []span    // ascending by Lo: every mapping of every module
	code  []Mapping // ascending by Lo: executable, module or not

	kernel []Mapping // of code with a name of the kernel's

	copied []*copied // ascending by Lo: code of no file that may be a copy of a module's

	registered *registered      // nil where nobody knows how to find any
	sought     atomic.Bool      // some were looked for
	budget     *elfimage.Budget // of all images; a module keeps it, and not the list
	memo       memos
}

type span struct {
	Mapping
	m *Module
}

var generation atomic.Uint64

// NewModules makes a list of modules. code are executable ranges that belong to no module, such as
// code that a JIT has made.
func NewModules(modules []*Module, code []Mapping) *Modules {
	ms := &Modules{Generation: generation.Add(1), budget: new(elfimage.Budget), list: append([]*Module(nil), modules...)}
	sort.Slice(ms.list, func(i, j int) bool { return ms.list[i].Lo() < ms.list[j].Lo() })
	for _, c := range code {
		if c.Exec {
			ms.code = append(ms.code, c)
		}
		if c.Exec && c.Kernel != "" {
			ms.kernel = append(ms.kernel, c)
		}
	}
	ms.share(ms.list)
	for _, m := range ms.list {
		for _, p := range m.Mappings {
			ms.spans = append(ms.spans, span{p, m})
			if p.Exec {
				ms.code = append(ms.code, p)
			}
		}
	}
	sort.Slice(ms.spans, func(i, j int) bool { return ms.spans[i].Lo < ms.spans[j].Lo })
	sort.Slice(ms.code, func(i, j int) bool { return ms.code[i].Lo < ms.code[j].Lo })
	ms.findCopied(code)
	return ms
}

// Only returns a list in which a module has all addresses. Call it to look up addresses that are
// known to be the module's.
func Only(m *Module) *Modules {
	ms := NewModules([]*Module{m}, nil)
	ms.spans = []span{{Mapping{Hi: ^uint64(0), Exec: true}, m}}
	return ms
}

// share has the modules' images join the budget.
func (ms *Modules) share(modules []*Module) {
	for _, m := range modules {
		if m.budget == nil { // else it was another list's before
			m.budget = ms.budget
		}
	}
}

// SetBudget has images that are opened later join b instead of a budget of the list's own: several
// lists may share it. Modules that were in another list before keep theirs.
func (ms *Modules) SetBudget(b *elfimage.Budget) {
	for _, m := range ms.list {
		if m.budget == ms.budget {
			m.budget = b
		}
	}
	ms.budget = b
}

// Memo returns what build gave for these modules and key, like [Module.Memo].
func (ms *Modules) Memo(key any, build func() any) any { return ms.memo.get(key, build) }

// MemoryOr returns the memory in which to read what belongs to no thread: ms.Memory, or, if that is
// nil, walked, in which a stack is walked.
func (ms *Modules) MemoryOr(walked Memory) Memory {
	if ms.Memory != nil {
		return ms.Memory
	}
	return walked
}

// All returns the modules of files in ascending order of their lowest address.
func (ms *Modules) All() []*Module {
	if ms == nil {
		return nil
	}
	return ms.list
}

// Find returns the module that is mapped at addr, or nil. That is a file, or an object that the
// process has registered. An object counts where no file is mapped, or shared memory that has a
// name. If the process has copied a file's code to memory of no file, at the same addresses, the
// file has it.
func (ms *Modules) Find(addr uint64) *Module {
	if ms == nil {
		return nil
	}
	m := ms.FindFile(addr)
	if m == nil || m.shared || m.doubted || m.placed {
		if object := ms.object(addr); object != nil {
			return object
		}
	}
	return m
}

// FindFile is Find for files alone.
func (ms *Modules) FindFile(addr uint64) *Module {
	if ms == nil {
		return nil
	}
	m := findSpan(ms.spans, addr)
	if len(ms.copied) > 0 && (m == nil || m.shared) {
		if of := ms.copyOf(addr); of != nil {
			return of
		}
	}
	return m
}

// FindData is Find, but also finds the module of memory that is in no file: variables that begin as
// zeros, behind the end of a program's data (.bss). Call it for addresses of variables.
func (ms *Modules) FindData(addr uint64) *Module {
	if m := ms.Find(addr); m != nil || ms == nil {
		return m
	}
	i := sort.Search(len(ms.list), func(i int) bool { return ms.list[i].Lo() > addr })
	if i == 0 {
		return nil
	}
	m := ms.list[i-1]
	im, bias, err := m.PeekImage()
	if err != nil || im == nil {
		return nil
	}
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && addr-bias-p.Vaddr < p.Memsz {
			return m
		}
	}
	return nil
}

// findSpan returns the module that has addr in one of some ascending spans.
func findSpan(spans []span, addr uint64) *Module {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].Hi > addr })
	if i < len(spans) && addr >= spans[i].Lo {
		return spans[i].m
	}
	return nil
}

// IsCode reports whether addr is in executable memory. It is true of every address if the target
// knows of no executable memory at all.
func (ms *Modules) IsCode(addr uint64) bool {
	if ms == nil || len(ms.code) == 0 {
		return true
	}
	i := sort.Search(len(ms.code), func(i int) bool { return ms.code[i].Hi > addr })
	if i < len(ms.code) && addr >= ms.code[i].Lo {
		return true
	}
	return ms.ProbeCode != nil && ms.FindFile(addr) == nil && ms.ProbeCode(addr)
}

// KernelName returns the kernel's name for the code at addr, if that is the kernel's own and in no
// module: "[vsyscall]".
func (ms *Modules) KernelName(addr uint64) string {
	if ms != nil {
		for i := range ms.kernel {
			if m := &ms.kernel[i]; addr >= m.Lo && addr < m.Hi {
				return m.Kernel
			}
		}
	}
	return ""
}

// CodeEnd returns the first address behind the contiguous executable memory that holds addr,
// whatever is mapped there; 0 if addr is not code. Of memory that ProbeCode alone knows, it returns
// the end of addr's page (4096 bytes).
func (ms *Modules) CodeEnd(addr uint64) uint64 {
	const page = 1 << 12
	if ms == nil || len(ms.code) == 0 {
		return ^uint64(0)
	}
	end := addr
	for i := sort.Search(len(ms.code), func(i int) bool { return ms.code[i].Hi > addr }); i < len(ms.code) && ms.code[i].Lo <= end; i++ {
		end = max(end, ms.code[i].Hi)
	}
	if end == addr && ms.IsCode(addr) {
		end = addr&^(page-1) + page
	}
	if end == addr {
		return 0
	}
	return end
}
