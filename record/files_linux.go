package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/mappedfile"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// machine is this machine with its processes.
type machine struct {
	mu     sync.Mutex
	procs  map[int]*proc
	images mappedfile.Images
	files  []*os.File // others that were mapped
	root   *os.File   // this program's own; nil before it is needed

	many       bool     // files were left out: there are too many
	listed     []string // what was left out of lists of mappings
	noMapFiles bool     // tests leave out the way that needs privileges
}

// proc are the open files of a process. They belong to it alone: another process with its number is
// another proc.
type proc struct {
	pid int
	dir *os.File // of one of its threads
	mem *os.File // nil if its memory may not be read

	word regular.Word // the rights with which files are opened that it names
}

func newMachine() *machine {
	return &machine{procs: map[int]*proc{}, images: mappedfile.Images{Most: maxFiles}}
}

// maxFiles bounds the files that are open for a recording, of code and of others each. Processes
// may make new ones all the time.
const maxFiles = 4096

// proc opens a process's folder in /proc. The caller holds mu.
func (m *machine) proc(pid int) (*proc, error) {
	if p := m.procs[pid]; p != nil {
		return p, nil
	}
	dir, err := os.Open(procdir.Of(pid))
	if err != nil {
		return nil, err
	}
	p := &proc{pid: pid, dir: dir}
	before := p.status()
	p.mem, _ = p.open("mem")
	root, _ := p.openat("root", unix.O_PATH|unix.O_DIRECTORY)
	p.word = regular.WordOf(before, p.status(), root)
	if root != nil {
		root.Close()
	}
	m.procs[pid] = p
	return p, nil
}

// status reads the process's status.
func (p *proc) status() []byte {
	f, err := p.open("status")
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxStatus))
	return text
}

// word implements host.
func (m *machine) word(pid int) regular.Word {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.proc(pid)
	if err != nil { // it has ended
		u := regular.Nobody("the process, whose user is not known,")
		return regular.Word{Here: u, Below: u}
	}
	return p.word
}

// forget closes what is open of a process, which has ended or runs another program.
func (m *machine) forget(pid int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(pid)
}

func (m *machine) drop(pid int) {
	if p := m.procs[pid]; p != nil {
		p.dir.Close()
		if p.mem != nil {
			p.mem.Close()
		}
		delete(m.procs, pid)
	}
}

// renew opens the folder of another thread, if the one whose folder is open has ended. It reports
// whether it has.
func (p *proc) renew() bool {
	var b [1]byte
	if p.mem == nil {
		return false
	}
	if n, err := unix.Pread(int(p.mem.Fd()), b[:], 0); n == 0 && err == nil {
		return false // the memory is gone, too: another process may have the number by now
	}
	dir, err := os.Open(procdir.Of(p.pid))
	if err != nil {
		return false
	}
	p.dir.Close()
	p.dir = dir
	return true
}

func (p *proc) open(name string) (*os.File, error) { return p.openat(name, unix.O_RDONLY) }

func (p *proc) openat(name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(int(p.dir.Fd()), name, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: p.dir.Name() + "/" + name, Err: err}
	}
	return os.NewFile(uintptr(fd), p.dir.Name()+"/"+name), nil
}

// replaced implements host.
func (m *machine) replaced(pid int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.procs[pid]
	if p == nil || p.mem == nil {
		return false
	}
	var b [1]byte
	n, err := unix.Pread(int(p.mem.Fd()), b[:], 0)
	return n == 0 && err == nil // address 0 gives EIO as long as the address space exists
}

// maps implements host.
func (m *machine) maps(pid int) ([]procmaps.Mapping, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.proc(pid)
	if err != nil {
		return nil, err
	}
	return p.maps(m.leftOutOfMaps)
}

// leftOutOfMaps notes what was left out of a list of mappings. The caller holds m.mu.
func (m *machine) leftOutOfMaps(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.listed, text) {
		m.listed = append(m.listed, text)
	}
}

func (p *proc) maps(warn func(format string, args ...any)) ([]procmaps.Mapping, error) {
	maps, err := p.mapsNow(warn)
	if err != nil && p.renew() {
		return p.mapsNow(warn)
	}
	return maps, err
}

func (p *proc) mapsNow(warn func(format string, args ...any)) ([]procmaps.Mapping, error) {
	f, err := p.open("maps")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	maps, err := procmaps.Read(f, warn)
	if err == nil && len(maps) == 0 {
		err = os.ErrProcessDone
	}
	return maps, err
}

// has reports whether the process still has a file mapped where it had it.
func (p *proc) has(f *procmaps.File) bool {
	maps, err := p.maps(nil)
	if err != nil {
		return false
	}
	i, ok := procmaps.Find(maps, f.Lo)
	return ok && maps[i].Inode == f.Inode && maps[i].Major == f.Major && maps[i].Minor == f.Minor
}

// maxStatus bounds /proc/PID/status, bytes.
const maxStatus = 1 << 20

// memory implements host.
func (m *machine) memory(pid int) target.Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, err := m.proc(pid); err == nil && p.mem != nil {
		return fileMemory{p.mem}
	}
	return nil
}

// fileMemory is /proc/PID/mem.
type fileMemory struct{ f *os.File }

// ReadMemory implements [target.Memory].
func (m fileMemory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if addr > 1<<63-1 {
		return 0, fmt.Errorf("read memory at %#x: %w", addr, target.ErrUnmapped)
	}
	if n, err = m.f.ReadAt(p, int64(addr)); err != nil {
		return n, fmt.Errorf("read memory at %#x: %w", addr+uint64(n), target.ErrUnmapped)
	}
	return n, nil
}

// name implements host.
func (m *machine) name(pid, tid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(b), "\n")
}

// open implements host. It opens the mapped file, and no other that has its path now.
func (m *machine) open(pid int, f *procmaps.File) (*elf.Image, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.proc(pid)
	if f.IsVDSO() {
		if err == nil && p.mem != nil {
			if im, err := elf.OpenMapped(fileMemory{p.mem}, f.Lo, f.Hi-f.Lo); err == nil {
				return im, nil
			}
		}
		return ownVDSO()
	}
	ways, done := m.ways(p)
	defer done()
	if ways.Memory != nil {
		ways.Memory = &mappedMemory{Memory: ways.Memory, has: sync.OnceValue(func() bool { return p.has(f) })}
	}
	im, _, err := m.images.Open(ways, f)
	m.many = m.many || errors.Is(err, mappedfile.ErrMany)
	return im, err
}

// leftOut says once what was left out.
func (m *machine) leftOut() (said []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	said = m.listed
	if m.many {
		said = append(said, fmt.Sprintf("more than %d files had code: the code of further files has no names", maxFiles))
	}
	m.many, m.listed = false, nil
	return said
}

// mappedMemory is the memory of a process as long as it has a file mapped. It is asked for that
// when its memory is needed, which is seldom: the list of what thousands of files are mapped at is
// long.
type mappedMemory struct {
	target.Memory
	has func() bool
}

// ReadMemory implements [target.Memory].
func (m *mappedMemory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if !m.has() {
		return 0, target.ErrUnmapped // another file may be there by now
	}
	return m.Memory.ReadMemory(addr, p)
}

// file implements host.
func (m *machine) file(pid int, f *procmaps.File) (*os.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.proc(pid)
	if err == nil && len(m.files) >= maxFiles {
		err = mappedfile.ErrMany
	}
	if err != nil {
		return nil, err
	}
	ways, done := m.ways(p)
	defer done()
	found := ways.Open(f)
	if found.Other != nil {
		found.Other.Close()
	}
	if found.File == nil {
		return nil, cmp.Or(found.Err, os.ErrNotExist)
	}
	m.files = append(m.files, found.File)
	return found.File, nil
}

// ways returns the ways to the files of a process, until done is called. p is nil if the process
// has ended.
func (m *machine) ways(p *proc) (ways *mappedfile.Process, done func()) {
	if m.root == nil {
		m.root, _ = os.Open("/")
	}
	ways = &mappedfile.Process{OwnRoot: m.root, NoMapFiles: m.noMapFiles}
	if p == nil {
		return ways, func() {}
	}
	ways.Dir = p.dir
	if p.mem != nil {
		ways.Memory = fileMemory{p.mem}
	}
	var err error
	if ways.Exe, err = p.openat("exe", unix.O_RDONLY); err != nil && p.renew() {
		ways.Exe, _ = p.openat("exe", unix.O_RDONLY)
		ways.Dir = p.dir
	}
	ways.Root, _ = p.openat("root", unix.O_PATH|unix.O_DIRECTORY)
	path := make([]byte, unix.PathMax)
	if n, err := unix.Readlinkat(int(p.dir.Fd()), "exe", path); err == nil {
		ways.ExePath = strings.TrimSuffix(string(path[:n]), " (deleted)")
	}
	return ways, func() {
		for _, f := range [...]*os.File{ways.Root, ways.Exe} {
			if f != nil {
				f.Close()
			}
		}
	}
}

// ownVDSO returns the kernel's code in this program, which is the same in all of its width.
func ownVDSO() (*elf.Image, error) {
	own := newMachine()
	defer own.close()
	maps, err := own.maps(os.Getpid())
	if err != nil {
		return nil, err
	}
	for i := range maps {
		if maps[i].IsVDSO() {
			b := make([]byte, maps[i].Hi-maps[i].Lo)
			if _, err := own.memory(os.Getpid()).ReadMemory(maps[i].Lo, b); err != nil {
				return nil, err
			}
			return elf.Open(bytes.NewReader(b), int64(len(b))) // it is a whole file
		}
	}
	return nil, errors.New("this program has no vDSO")
}

// close implements host.
func (m *machine) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for pid := range m.procs {
		m.drop(pid)
	}
	m.images.Close()
	for _, f := range m.files {
		f.Close()
	}
	if m.root != nil {
		m.root.Close()
	}
}
