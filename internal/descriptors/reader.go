package descriptors

import (
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Reader reads the descriptors of one process. It is safe for concurrent use.
type Reader struct {
	pid int
	dir string // of the process, in /proc

	mu      sync.Mutex
	fds     folder // of the first thread's descriptors
	closed  bool
	files   map[known]File
	tables  map[string]*table // of sockets, by name
	related []Relative        // where the other ends of pipes are looked for; nil if that is not known yet
	links   map[string][]held // descriptors of these processes by where they lead; nil likewise
	peers   int               // how many unix sockets' peers were asked for
	family  *family           // nil if it was not read yet
}

// known is a descriptor that was read: where it is, and where its link leads.
type known struct {
	at   place
	link string
}

// New returns a reader of the process pid, whose folder in /proc is dir: "/proc/4242", or a path
// that leads there and to no other process that has its number later.
func New(pid int, dir string) *Reader {
	return &Reader{pid: pid, dir: dir, fds: noFolder, files: map[known]File{}, tables: map[string]*table{}}
}

// task returns the path of a file of a thread's.
func (r *Reader) task(tid int, name string) string {
	return r.dir + "/task/" + strconv.Itoa(tid) + "/" + name
}

// descriptor returns where a thread's descriptor is. The folder of the first thread is also the
// folder of all threads that share descriptors with it: the kernel must not make one for each.
func (r *Reader) descriptor(tid, fd int) place {
	if r.fds == noFolder && !r.closed {
		r.fds = openFolder(r.dir + "/fd")
	}
	number := strconv.Itoa(fd)
	if r.fds != noFolder && shareFiles(r.pid, tid) {
		return place{r.fds, number}
	}
	return place{noFolder, r.task(tid, "fd/"+number)}
}

// maxFD bounds descriptors: a number beyond it is none (fs.nr_open's highest value).
const maxFD = 1<<31 - 1

// File returns what a descriptor of a thread leads to now. The error says that the thread has no
// such descriptor, or that it may not be read.
func (r *Reader) File(tid, fd int) (File, error) {
	if fd < 0 || fd > maxFD {
		return File{}, os.ErrNotExist
	}
	r.mu.Lock()
	at := r.descriptor(tid, fd)
	r.mu.Unlock()
	link, err := at.link()
	if err != nil {
		return File{}, err
	}
	if name, _ := kernelName(link); name == "pipe" {
		return r.pipe(fd, at, link), nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file(tid, fd, false)
}

// Waits reports whether who writes to a thread's descriptor, a pipe or a socket, waits where there
// is no room for all (O_NONBLOCK is not set).
func (r *Reader) Waits(tid, fd int) bool {
	f, err := r.File(tid, fd)
	if err != nil || f.Kind != Pipe && f.Kind != Socket {
		return false
	}
	text, _ := readSome(r.task(tid, "fdinfo/"+strconv.Itoa(fd)), mostInfo)
	flags, err := strconv.ParseUint(field(text, "flags:"), 8, 64)
	return err == nil && flags&nonBlocking == 0
}

// pipe describes a pipe. Threads often wait at many: none waits here until another's is known.
func (r *Reader) pipe(fd int, at place, link string) File {
	key := known{at, link}
	r.mu.Lock()
	f, ok := r.files[key]
	var all []held
	if !ok {
		all = r.byLink()[link]
	}
	r.mu.Unlock()
	if ok {
		return f
	}
	f = File{FD: fd, Kind: Pipe}
	f.otherEnd(at, all)
	r.mu.Lock()
	r.files[key] = f
	r.mu.Unlock()
	return f
}

// file is File. An inner one is in the list of another.
func (r *Reader) file(tid, fd int, inner bool) (File, error) {
	if fd < 0 || fd > maxFD {
		return File{}, os.ErrNotExist
	}
	at := r.descriptor(tid, fd)
	link, err := at.link()
	if err != nil {
		return File{}, err
	}
	key := known{at, link}
	if f, ok := r.files[key]; ok && (f.Kind != Epoll || inner || f.More || len(f.Files) > 0) {
		return f, nil
	}
	f := File{FD: fd}
	name, inode := kernelName(link)
	switch {
	case strings.HasPrefix(link, "/"):
		r.path(&f, at, link)
	case name == "socket":
		f.Kind = Socket
		r.socket(&f, tid, at, inode)
	case name == "pipe":
		f.Kind = Pipe
		f.otherEnd(at, r.byLink()[link])
	default:
		r.anonymous(&f, tid, link, inner)
	}
	r.files[key] = f
	return f, nil
}

// kernelName parts the link of what has no path: "socket:[1234]".
func kernelName(link string) (name string, inode uint64) {
	name, rest, ok := strings.Cut(link, ":[")
	if !ok {
		return "", 0
	}
	inode, err := strconv.ParseUint(strings.TrimSuffix(rest, "]"), 10, 64)
	if err != nil {
		return "", 0
	}
	return name, inode
}

// path describes what has a path.
func (r *Reader) path(f *File, at place, link string) {
	f.Kind, f.Path = Regular, link
	switch {
	case strings.HasPrefix(link, "/dev/pts/"), strings.HasPrefix(link, "/dev/tty"), link == "/dev/console":
		f.Kind = Terminal
	case at.isFIFO():
		f.Kind = Pipe
		f.otherEnd(at, r.byLink()[link])
	}
}

// mostWatched bounds the descriptors of an epoll that are described.
const mostWatched = 4

// nonBlocking is O_NONBLOCK of the architectures that sfwalk runs on (asm-generic/fcntl.h).
const nonBlocking = 0o4000

// Bounds of fdinfo: bytes that are read of one, and descriptors of a process whose epolls' lists
// are read. The kernel makes a list as a whole, and the process cannot use the epoll meanwhile.
const (
	mostInfo = 1 << 20
	mostOpen = 1 << 13
)

// opened returns how many descriptors the process has, at most.
func (r *Reader) opened() int64 {
	if s, err := os.Stat(r.dir + "/fd"); err == nil && s.Size() > 0 { // since Linux 6.2
		return s.Size()
	}
	text, _ := readSome(r.dir+"/status", 16<<10)
	n, _ := strconv.ParseInt(field(text, "FDSize:"), 10, 64)
	return n
}

// anonymous describes what only the kernel has a name for, by its fdinfo (proc_pid_fdinfo(5)).
func (r *Reader) anonymous(f *File, tid int, link string, inner bool) {
	info := func() []byte {
		text, _ := readSome(r.task(tid, "fdinfo/"+strconv.Itoa(f.FD)), mostInfo)
		f.More = len(text) == mostInfo
		return text
	}
	switch word := strings.Trim(strings.TrimPrefix(link, "anon_inode:"), "[]"); word {
	case "eventpoll":
		f.Kind = Epoll
		if r.opened() > mostOpen {
			f.More = true
			break
		}
		list := watchedFDs(info())
		f.Watched = len(list)
		for _, w := range list[:min(mostWatched, len(list))] {
			if inner {
				break
			}
			f.Files = append(f.Files, r.watched(tid, w))
		}
	case "eventfd":
		f.Kind = Event
	case "timerfd":
		f.Kind = Timer
		f.Left = timeLeft(info())
	case "signalfd":
		f.Kind = Signal
		f.Signals = signalsOf(info())
	case "inotify":
		f.Kind = Inotify
		f.Watched = lines(info(), "inotify ")
	case "pidfd":
		f.Kind = Process
		if f.PID, _ = strconv.Atoi(field(info(), "Pid:")); f.PID > 0 {
			f.Name = comm(f.PID)
		}
	case "io_uring":
		f.Kind = Ring
	default:
		f.Kind, f.Link = Other, link
	}
}

// watched describes what an epoll watches. The descriptor may have been closed since, and have
// been made anew for something else: of that, the number alone is said.
func (r *Reader) watched(tid int, w watched) File {
	if _, inode, ok := r.descriptor(tid, w.fd).identity(); ok && inode == w.inode {
		if f, err := r.file(tid, w.fd, true); err == nil {
			return f
		}
	}
	return File{FD: w.fd}
}

// readSome reads a file, at most most bytes of it.
func readSome(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// comm returns the name of a process; "" if it is not known.
func comm(pid int) string {
	text, _ := readSome("/proc/"+strconv.Itoa(pid)+"/comm", 64)
	return strings.TrimSuffix(string(text), "\n")
}

// timeLeft reads a timerfd's fdinfo: "it_value: (SECONDS, NANOSECONDS)".
func timeLeft(info []byte) time.Duration {
	text := strings.Trim(field(info, "it_value:"), "()")
	first, second, ok := strings.Cut(text, ", ")
	s, err := strconv.ParseInt(first, 10, 64)
	ns, err2 := strconv.ParseInt(second, 10, 64)
	if !ok || err != nil || err2 != nil || s < 0 || ns < 0 || s > int64(1<<62/time.Second) {
		return 0
	}
	return time.Duration(s)*time.Second + time.Duration(ns)
}
