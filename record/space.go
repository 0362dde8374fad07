package record

import (
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/jit"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// host is where processes are: this machine, or a file that was recorded on another. Files are
// opened by whoever names frames, too, while the engine goes on.
type host interface {
	// maps returns what a process has mapped now. An error says that only records tell.
	maps(pid int) ([]procmaps.Mapping, error)
	// open opens a file that a process has mapped, or, with noProcess, that one which has ended had
	// mapped.
	open(pid int, f *procmaps.File) (*elf.Image, error)
	// file opens a file that a process has mapped. It stays the host's.
	file(pid int, f *procmaps.File) (*os.File, error)
	// memory returns the memory of a process as it is now; nil if there is none.
	memory(pid int) target.Memory
	// replaced reports whether the process has ended, or runs another program than the one whose
	// memory is open.
	replaced(pid int) bool
	// name returns the name of a thread; "" if it is not known.
	name(pid, tid int) string
	// word returns the rights with which files are opened that a process names.
	word(pid int) regular.Word
	// forget says that the process has ended, or runs another program.
	forget(pid int)
	close()
}

// noProcess is the number of no process.
const noProcess = -1

// space is the address space of one process, from one execve(2) to the next.
type space struct {
	*engine
	pid  int
	arch *arch.Arch
	*mapped
	stale bool // maps have changed since modules was made
	// generation counts how often it has changed what places there are, or what names they have.
	generation int
	ask        bool // the host knows what is mapped, of which there are no records
	modules    *target.Modules
	known      map[fileAt]*target.Module // what modules were made of

	inModules int           // mappings that modules was made of
	memory    target.Memory // unwritable memory alone
	walker    *frame.Walker // nil while it is others' turn
	turn      uint64        // when a sample was of it last
	life      *life
	goes      goes
	jit       jitCode
	table     *frame.Table          // of the walker
	searches  *frame.SharedSearches // of the walker; nil for a live process's
	named     named
	languages languages
	places    [placeSlots]placeSlot // the places that were asked for last; with what is mapped, they change
}

// placeSlots is how many places a space keeps at hand: an address has its place in one of them.
const placeSlots = 512

// placeSlot is the index of a place, by its address.
type placeSlot struct {
	addr  uint64
	index uint32
	used  bool
	next  bool // the place is at the next address, to which a frame returns that has called nothing
}

// slot returns the slot that the place at an address has.
func (s *space) slot(addr uint64) *placeSlot { return &s.places[(addr^addr>>9)%placeSlots] }

// forgetPlaces forgets the places at hand: what is mapped has changed, or what names it has.
func (s *space) forgetPlaces() {
	s.generation++
	clear(s.places[:])
}

// placeOf returns the index of the place at an address.
func (s *space) placeOf(addr uint64) uint32 {
	slot := s.slot(addr)
	if slot.used && slot.addr == addr && !slot.next {
		return slot.index
	}
	p := s.place(addr)
	id := s.tree.place(p)
	switch {
	case len(s.jit.dumps) > 0 && (p.module == nil || jit.IsDump(p.module.Path)):
		s.jit.doubt = true
		return id // code comes and goes there
	case p.module != nil && p.module.Registered():
		p.module.PeekImage() // the process may take it away
	}
	*slot = placeSlot{addr: addr, index: id, used: true}
	return id
}

func fileAtOf(f *procmaps.File) fileAt {
	return fileAt{f.Path, f.Lo, f.Offset, f.Hi, f.Major, f.Minor, f.Inode}
}

// fileAt tells the modules of a process apart.
type fileAt struct {
	path         string
	lo, offset   uint64
	hi           uint64
	major, minor uint32
	inode        uint64
}

// maxMappings bounds the mappings of one process: the kernel's own default bound
// (vm.max_map_count).
const maxMappings = 65530

// newSpace describes a process as it is now. parent, which may be nil, is the space that it is a
// copy of.
func (e *engine) newSpace(pid int32, a *arch.Arch, parent *space) *space {
	s := &space{engine: e, life: &life{host: e.host, pid: int(pid)}, pid: int(pid), arch: a, known: map[fileAt]*target.Module{}, stale: true, ask: true}
	if parent != nil {
		s.mapped, s.ask = parent.share(), false
	} else if early, ok := e.early[pid]; ok {
		s.mapped, s.ask = early, false
		delete(e.early, pid)
	} else {
		s.mapped = &mapped{users: 1}
	}
	e.roomForSpace()
	e.spaces[pid] = s
	return s
}

// needWalker makes the walker, if there is none. The one that was not needed for longest goes.
func (s *space) needWalker() {
	e := s.engine
	if s.walker != nil {
		return
	}
	if len(e.walking) >= maxWalkers {
		i := 0
		for j, x := range e.walking {
			if x.turn < e.walking[i].turn {
				i = j
			}
		}
		e.walking[i].walker = nil
		e.walking = slices.Delete(e.walking, i, i+1)
	}
	e.walking = append(e.walking, s)
	s.table = e.opts.Table(s.pid, s.arch)
	if e.file != nil {
		s.searches = new(frame.SharedSearches)
		s.table.ShareSearches(s.searches)
	}
	s.walker = frame.NewWalker(s.modules, s.table)
	s.languages.stack = nil
	s.named = namedBy(s.table)
}

// mapped notes that a process has mapped code. The records are of the time of the samples around
// them, which /proc is not: what it tells may be of a later time.
func (e *engine) mapped(m *perfevent.Mmap) {
	if m.NotExecutable || m.Size == 0 || m.Addr+m.Size < m.Addr {
		return
	}
	at := procmaps.Mapping{Lo: m.Addr, Hi: m.Addr + m.Size, Offset: m.Offset, Read: true, Exec: true, Major: m.Major, Minor: m.Minor, Inode: m.Inode, Path: m.Path}
	const write = 2 // PROT_WRITE
	at.Write = m.Full && m.Protection&write != 0
	if e.file != nil {
		e.file.identify(m, &at)
	} else if at.Inode != 0 {
		at.Path, at.Deleted = strings.CutSuffix(m.Path, " (deleted)")
	}
	if m.Path == "//anon" {
		at.Path, at.Offset, at.Inode = "", 0, 0
	}
	e.roomForMappings()
	if s := e.spaces[m.PID]; s != nil {
		s.mapped, s.stale = e.with(s.mapped, at), true
	} else if early, ok := e.early[m.PID]; ok {
		e.early[m.PID] = e.with(early, at)
	} else if e.file != nil {
		e.early[m.PID] = e.with(&mapped{users: 1}, at)
	}
}

// refresh makes the modules anew if what is mapped has changed.
func (s *space) refresh() {
	s.turns++
	s.turn = s.turns
	if !s.stale {
		return
	}
	if s.ask {
		s.askAgain()
	}
	s.stale, s.ask = false, false
	s.languages.stale = true
	s.forgetPlaces()
	life := s.life // modules outlive the space
	known := make(map[fileAt]*target.Module, len(s.known))
	s.modules = procmaps.Modules(s.maps, func(f *procmaps.File) *target.Module {
		key := fileAtOf(f)
		m, ok := s.known[key]
		if !ok || !slices.Equal(m.Mappings, f.Mappings) {
			m = target.NewModule(f.Path, f.Mappings, func() (*elf.Image, error) { return life.open(f) })
		}
		known[key] = m
		return m
	})
	s.modules.SetBudget(&s.budget)
	s.known = known
	s.engine.inModules += len(s.maps) - s.inModules
	s.inModules = len(s.maps)
	s.roomForModules(s)
	s.memory = &unwritten{s}
	mem := s.host.memory(s.pid)
	if mem != nil {
		s.modules.Memory = mem
	}
	s.follow(mem)
	if s.walker != nil {
		s.walker.SetModules(s.modules)
	}
}

// life is what modules keep of the process that they are of.
type life struct {
	host host
	pid  int
	gone atomic.Bool // the process has ended, or runs another program
}

// open opens a mapped file. When the process has ended, another one may have its number.
func (l *life) open(f *procmaps.File) (*elf.Image, error) {
	if jit.IsDump(f.Path) {
		return nil, elf.ErrNotELF // it is read by others
	}
	if l.gone.Load() {
		return l.host.open(noProcess, f)
	}
	return l.host.open(l.pid, f)
}

// unwritten is the memory of a process that it does not write to: the process's own while it lives,
// then the files' bytes.
type unwritten struct{ *space }

// ReadMemory implements [target.Memory].
func (m unwritten) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if mem := m.host.memory(m.pid); mem != nil {
		if n, _ = mem.ReadMemory(addr, p); n == len(p) {
			return n, nil
		}
	}
	if at := m.modules.FindFile(addr); at != nil {
		if im, bias, err := at.Image(); err == nil {
			if n = im.ReadLoaded(addr-bias, p); n == len(p) {
				return n, nil
			}
		}
	}
	return n, target.ErrUnmapped
}
