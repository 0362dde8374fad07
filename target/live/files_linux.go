package live

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/mappedfile"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// files holds the open files of a process. They lead to this very process for as long as the target
// is used, whichever process gets its ID later.
type files struct {
	proc    *proc
	exePath string
	pidfd   *os.File
	mem     *os.File // nil if the system refuses to open it
	root    *os.File // the process's root folder; nil if refused
	ownRoot *os.File // our own root folder
	exe     *os.File // the program; nil if it cannot be opened
	whole   *os.File // the folder of a thread, if the first thread has ended; else nil
	word    regular.Word

	// Room for the registers and the copies, if they fit.
	registerRoom, setRoom, copyRoom []byte
	copying                         sync.Mutex          // guards copyRoom
	lastSets                        target.RegisterSets // of the thread that was read last

	memory target.Memory // set when the target is made
	values bool          // Options.Values

	closed atomic.Bool

	mu       sync.Mutex
	images   mappedfile.Images
	opened   []*os.File // others that were mapped
	warnings []warning
	leftOut  []string // of the list of mappings; they are among the warnings
}

// warning is a sentence that the user should know.
type warning struct {
	text  string
	about *target.Module // the module that it is about: without use of the module it is not told; nil for a warning that is always told
}

// openAll opens what later reads need. tid is one of the threads. All threads are stopped, so that
// all that is opened is of the same program.
func (f *files) openAll(tid int) error {
	fd, err := unix.PidfdOpen(f.proc.pid, 0)
	if err == nil {
		f.pidfd = os.NewFile(uintptr(fd), "pidfd")
	} else if err == unix.ESRCH {
		return ErrExited
	}
	before, _ := f.proc.readFile(taskFile(tid, "status"))
	f.mem, err = f.proc.openat(taskFile(tid, "mem"), unix.O_RDONLY)
	if err != nil && ended(err) {
		return ErrExited
	}
	f.root, _ = f.proc.openat(taskFile(tid, "root"), unix.O_PATH|unix.O_DIRECTORY)
	f.ownRoot, _ = os.Open("/")
	f.exe, _ = f.proc.openat(taskFile(tid, "exe"), unix.O_RDONLY)
	f.whole, _ = f.proc.whole(tid)
	exe, err := f.proc.readlink(taskFile(tid, "exe"))
	if err == nil {
		f.exePath = strings.TrimSuffix(exe, " (deleted)")
	}
	after, _ := f.proc.readFile(taskFile(tid, "status"))
	f.word = regular.WordOf(before, after, f.root)
	return nil
}

// openAny is openAll with the first of the threads that still exists.
func (f *files) openAny(tids []int) error {
	err := error(ErrExited)
	for _, tid := range tids {
		if err = f.openAll(tid); err == nil || !errors.Is(err, ErrExited) {
			return err
		}
	}
	return err
}

// replaced reports whether the process has another address space than the opened one, because it
// has called execve(2) or ended.
func (f *files) replaced() bool {
	if f.mem == nil {
		return false
	}
	var b [1]byte
	_, err := f.mem.ReadAt(b[:], 0)
	return errors.Is(err, io.EOF) // address 0 gives EIO as long as the address space exists
}

// prepare makes room for what most processes need, so that no thread stands still until the kernel
// has given us that memory. copies is the size of the copies of stacks, bytes.
func (f *files) prepare(copies int) {
	f.registerRoom = make([]byte, maxRegisterSet)
	f.setRoom = make([]byte, target.MaxRegisterSet)
	f.copyRoom = make([]byte, copies)
	for i := 0; i < len(f.copyRoom); i += pageSize {
		f.copyRoom[i] = 0
	}
}

// usualStack is how much a typical thread uses of its stack, bytes.
const usualStack = 16 << 10

// Close implements [io.Closer].
func (f *files) Close() error {
	if f.closeOpened() {
		f.proc.dir.Close()
	}
	return nil
}

// closeOpened closes all but the process's folder. It returns false if that was done before.
func (f *files) closeOpened() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed.Swap(true) {
		return false
	}
	for _, file := range append(f.opened, f.pidfd, f.mem, f.root, f.ownRoot, f.exe, f.whole) {
		if file != nil {
			file.Close()
		}
	}
	f.images.Close()
	if f.proc.ownWatch {
		f.proc.watch.Close()
	}
	return true
}

func (f *files) warned() (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.warnings {
		if w.about == nil || w.about.ImageUsed() {
			list = append(list, w.text)
		}
	}
	return list
}

// leftOutOfMaps implements source.
func (f *files) leftOutOfMaps() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.leftOut)
}

// warn adds a warning. The caller holds f.mu.
func (f *files) warn(about *target.Module, format string, args ...any) {
	f.warnings = append(f.warnings, warning{strings.ToValidUTF8(fmt.Sprintf(format, args...), "?"), about})
}

// fetch reads the process's memory as it is now. It implements pageCache.fetch.
//
// fetch prefers /proc/PID/mem to process_vm_readv(2). The file was opened while the process was
// held, so it is this process's, whereas the ID may belong to another process by now.
func (f *files) fetch(addr uint64, p []byte) (n int, err error) {
	if f.mem == nil {
		return f.fetchByID(addr, p)
	}
	if int64(addr) < 0 {
		return 0, nil // an address in the kernel's half, which is no file offset
	}
	for n < len(p) {
		got, err := f.mem.ReadAt(p[n:min(len(p), n+1<<20)], int64(addr)+int64(n))
		n += got
		switch {
		case errors.Is(err, os.ErrClosed):
			return n, errClosed
		case errors.Is(err, unix.EIO):
			return n, nil
		case err != nil && n == 0:
			return 0, ErrExited // end of file: the address space no longer exists
		case err != nil:
			return n, nil
		}
	}
	return n, nil
}

// fetchByID does the work of fetch if /proc/PID/mem cannot be opened.
func (f *files) fetchByID(addr uint64, p []byte) (int, error) {
	local := []unix.Iovec{iovec(p)}
	remote := []unix.RemoteIovec{{Base: uintptr(addr), Len: len(p)}}
	n, err := unix.ProcessVMReadv(f.proc.pid, local, remote, 0)
	if err == unix.ESRCH || f.exited() {
		return 0, ErrExited // the bytes may be of another process
	}
	return max(n, 0), nil
}

// exited reports whether the process has ended.
func (f *files) exited() bool {
	if f.pidfd == nil { // before Linux 5.3
		_, err := f.proc.readFile("comm")
		return err != nil
	}
	fds := []unix.PollFd{{Fd: int32(f.pidfd.Fd()), Events: unix.POLLIN}}
	n, _ := unix.Poll(fds, 0)
	return n > 0
}

// copyFrom copies the readable part of the stack that sp points into, from the red zone on, as far
// as room holds it. n bytes from address lo on were copied. If sp has overflown its stack, the
// stack, and so lo, begins above sp.
func (f *files) copyFrom(tid int, sp uint64, room []byte) (lo uint64, n int) {
	lo = sp - min(sp, uint64(f.proc.arch.RedZone))
	for end := sp + guardGap; lo < end; lo = lo&^(pageSize-1) + pageSize {
		if n = f.copyRange(tid, lo, room); n > 0 {
			return lo, n
		}
	}
	return 0, 0
}

// copyStacks copies at most first bytes of the stack that sp points into. It also copies at most
// firstCopy bytes of each stack that handlers on alternate stacks have interrupted, as far as room
// holds them. It appends the copies, which lie in room, to the slice to. maps may be nil.
func (f *files) copyStacks(tid int, sp uint64, maps []procmaps.Mapping, first int, room []byte, to []block) []block {
	for n, ok := 0, true; ok && n < maxSwitches && len(room) > 0; n++ {
		lo, got := f.copyFrom(tid, sp, room[:min(first, len(room))])
		if got == 0 {
			break
		}
		data := room[:got:got]
		to = append(to, block{lo: lo, data: data})
		room = room[min(first, len(room)):]
		first = firstCopy
		skip := min(uint64(got), sp-min(sp, lo))
		sp, ok = interruptedSP(f.proc.arch, maps, max(sp, lo), data[skip:])
	}
	return to
}

// copyRange copies the readable memory from lo on into room, and returns how many bytes that is.
func (f *files) copyRange(tid int, lo uint64, room []byte) int {
	local := []unix.Iovec{iovec(room)}
	remote := []unix.RemoteIovec{{Base: uintptr(lo), Len: len(room)}}
	n, err := unix.ProcessVMReadv(tid, local, remote, 0)
	if err != nil && err != unix.EFAULT {
		n, _ = f.fetch(lo, room) // process_vm_readv was refused
	}
	return max(n, 0)
}

const (
	maxIOV = 1024 // UIO_MAXIOV
	// maxGap is how much is read, and thrown away, between two ranges, bytes: to begin another
	// range takes the kernel longer. The smallest stacks of goroutines have two kilobytes.
	maxGap = 2 << 10
)

// gapRoom gets what is thrown away: nobody reads it.
var gapRoom [maxGap]byte

// vectors is memory for the ranges of one call.
type vectors struct {
	local  [maxIOV]unix.Iovec
	remote [maxIOV]unix.RemoteIovec
}

var vectorPool = sync.Pool{New: func() any { return new(vectors) }}

// copyMemory copies the given ranges, ascending and disjoint, while the threads are stopped. It
// leaves out what cannot be read. It returns the copies and their total size.
func (f *files) copyMemory(tid int, parts []span) (blocks []block, size uint64) {
	for _, s := range parts {
		size += s.hi - s.lo
	}
	var buf []byte
	f.copying.Lock()
	if size <= uint64(len(f.copyRoom)) {
		buf, f.copyRoom = f.copyRoom[:size:size], f.copyRoom[size:]
	}
	f.copying.Unlock()
	if buf == nil {
		buf = make([]byte, size)
	}
	blocks = make([]block, 0, len(parts))
	vectors := vectorPool.Get().(*vectors)
	defer vectorPool.Put(vectors)
	local, remote := vectors.local[:], vectors.remote[:]
	joining := true
	for used := uint64(0); len(parts) > 0; {
		most := maxIOV
		if joining {
			most = maxIOV / 2
		}
		batch := parts[:min(len(parts), most)]
		room, gaps := uint64(0), uint64(0)
		for _, s := range batch {
			room += s.hi - s.lo
		}
		if room == 0 {
			break
		}
		local, remote = local[:0], remote[:0]
		at, end := used, uint64(0)
		for _, s := range batch {
			size := s.hi - s.lo
			if size == 0 {
				continue
			}
			if gap := s.lo - end; joining && len(remote) > 0 && gap <= maxGap {
				if gap > 0 {
					local = append(local, iovec(gapRoom[:gap]))
				}
				remote[len(remote)-1].Len += int(gap + size)
				gaps += gap
			} else {
				remote = append(remote, unix.RemoteIovec{Base: uintptr(s.lo), Len: int(size)})
			}
			local = append(local, iovec(buf[at:at+size]))
			at, end = at+size, s.hi
		}
		n, err := unix.ProcessVMReadv(tid, local, remote, 0)
		if joining = n == int(room+gaps); joining {
			n = int(room)
		} else if gaps > 0 {
			continue // something cannot be read, perhaps what is between: the parts are read without that
		}
		if err != nil && err != unix.EFAULT {
			// The call was refused, so the ranges are read one by one.
			room = parts[0].hi - parts[0].lo
			n, _ = f.fetch(parts[0].lo, buf[used:used+room])
		}
		got := uint64(max(n, 0))
		for len(parts) > 0 {
			s := &parts[0]
			k := min(got, s.hi-s.lo)
			if k > 0 {
				blocks = append(blocks, block{lo: s.lo, data: buf[used : used+k : used+k]})
				used, got = used+k, got-k
			}
			if s.lo += k; s.lo < s.hi {
				break
			}
			parts = parts[1:]
		}
		if uint64(max(n, 0)) < room && len(parts) > 0 {
			// A hole begins here, so reading goes on behind its first page.
			if s := &parts[0]; s.hi-s.lo <= pageSize-s.lo%pageSize {
				parts = parts[1:]
			} else {
				s.lo += pageSize - s.lo%pageSize
			}
		}
	}
	return blocks, size
}
