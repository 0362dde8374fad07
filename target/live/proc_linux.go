package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
)

// proc is a process's folder of /proc, held open. All that is read through it is of this process.
// Once the process has ended, reads fail, even if another process has got its ID.
type proc struct {
	pid  int
	dir  *os.File
	only []int              // the threads to look at; empty for all
	skip func(tid int) bool // the threads not to look at; nil for none
	arch *arch.Arch         // the program's

	watch    *Watch
	ownWatch bool // nobody else uses watch

	stopped bool // by a signal, before it was attached to
}

func openProc(pid int) (*proc, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &proc{pid: pid, dir: os.NewFile(uintptr(fd), "/proc/"+strconv.Itoa(pid)), arch: hostArch, watch: &Watch{Most: maxWatched}, ownWatch: true}, nil
}

// maxWatched bounds the threads whose files an attach keeps open.
const maxWatched = 64

// whole opens the folder that shows the memory and the files of the process: p.dir, or, if the
// first thread has ended, the folder of thread tid. The kernel lists only first threads in /proc,
// but knows the others there. The folder must be one of this process's threads.
func (p *proc) whole(tid int) (*os.File, error) {
	if tid == p.pid { // the first thread lives
		return nil, nil
	}
	s, err := p.status("")
	if err != nil || !strings.Contains("XZ", s.state[:1]) {
		return nil, err
	}
	name := "/proc/" + strconv.Itoa(tid)
	fd, err := unix.Open(name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Faccessat(fd, "task/"+strconv.Itoa(p.pid), unix.F_OK, 0); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (p *proc) openat(name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(int(p.dir.Fd()), name, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: p.dir.Name() + "/" + name, Err: err}
	}
	return os.NewFile(uintptr(fd), p.dir.Name()+"/"+name), nil
}

func (p *proc) readFile(name string) ([]byte, error) {
	f, err := p.openat(name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return readAll(f)
}

// readLine reads a file of one short line, which the kernel writes at once: many threads have many.
func (p *proc) readLine(name string) ([]byte, error) {
	fd, err := unix.Openat(int(p.dir.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, 256) // the longest has nine numbers of 18 characters
	n, err := unix.Read(fd, buf)
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// readAll reads a file to its end, and closes it.
func readAll(f *os.File) ([]byte, error) {
	defer f.Close()
	buf := make([]byte, 0, 512)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 4*cap(buf)), buf...)
		}
	}
}

func (p *proc) readlink(name string) (string, error) {
	buf := make([]byte, 4096) // the kernel's PATH_MAX
	n, err := unix.Readlinkat(int(p.dir.Fd()), name, buf)
	if err != nil {
		return "", &os.PathError{Op: "readlink", Path: p.dir.Name() + "/" + name, Err: err}
	}
	return string(buf[:n]), nil
}

// tasks returns the IDs of those threads of the process that are looked at, ascending.
func (p *proc) tasks() ([]int, error) {
	f, err := p.openat("task", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	tids := make([]int, 0, len(names))
	for _, name := range names {
		if tid, err := strconv.Atoi(name); err == nil && (len(p.only) == 0 || slices.Contains(p.only, tid)) && (p.skip == nil || !p.skip(tid)) {
			tids = append(tids, tid)
		}
	}
	if err == nil && len(tids) == 0 {
		err = unix.ESRCH
	}
	return tids, err
}

func taskFile(tid int, name string) string { return "task/" + strconv.Itoa(tid) + "/" + name }

// comm returns a thread's name; "" if the thread has ended.
func (p *proc) comm(tid int) string {
	text, _ := p.readLine(taskFile(tid, "comm"))
	return strings.TrimSuffix(string(text), "\n")
}

// blocked returns what the kernel says of a thread that does not run (proc_pid_syscall(5)): the
// whole text, and SP and PC in it. The text has the system call with its arguments, too.
func (p *proc) blocked(tid int) (text []byte, sp, pc uint64, ok bool) {
	text, err := p.readLine(taskFile(tid, "syscall"))
	if err != nil {
		return nil, 0, 0, false
	}
	text = bytes.TrimSuffix(text, []byte{'\n'})
	sp, pc, ok = blockedIn(text)
	return text, sp, pc, ok
}

// blockedIn returns the SP and PC of a thread's syscall file: "NUMBER [ARGS] SP PC", or "running".
func blockedIn(text []byte) (sp, pc uint64, ok bool) {
	text = bytes.TrimSuffix(text, []byte{'\n'})
	last := bytes.LastIndexByte(text, ' ')
	before := bytes.LastIndexByte(text[:max(last, 0)], ' ')
	if before < 0 {
		return 0, 0, false
	}
	sp, err1 := strconv.ParseUint(string(text[before+1:last]), 0, 64)
	pc, err2 := strconv.ParseUint(string(text[last+1:]), 0, 64)
	return sp, pc, err1 == nil && err2 == nil && sp != 0
}

// status is an extract of /proc/PID/status and stat (proc_pid_status(5)).
type status struct {
	state  string // "S (sleeping)"
	tgid   int
	ppid   int
	tracer int // 0: nobody, or nobody in this PID namespace
	uid    int // real
	flags  uint64
	sleeps string // how often the thread has gone to sleep
}

// Bits of status.flags (linux/sched.h).
const (
	kernelThread = 0x00200000 // PF_KTHREAD
	ioWorker     = 0x00000010 // PF_IO_WORKER
	userWorker   = 0x00004000 // PF_USER_WORKER, since Linux 6.4; it meant something else before
)

// isWorker reports whether a thread, whose name is given, is one that the kernel runs for the
// process (io_uring's, vhost's). Some releases of the kernel let nobody trace it. Anybody may have
// such a name: the flags decide.
func (p *proc) isWorker(tid int, name string) bool {
	if !strings.HasPrefix(name, "iou-") && !strings.HasPrefix(name, "vhost-") {
		return false
	}
	s, err := p.status(taskFile(tid, ""))
	return err == nil && s.flags&(ioWorker|userWorker) != 0
}

// status reads the state of the process (prefix "") or of one of its threads (prefix "task/TID/").
func (p *proc) status(prefix string) (s status, err error) {
	text, err := p.readFile(prefix + "status")
	if err != nil {
		return s, err
	}
	s.state, s.sleeps = statusField(text, "State"), statusField(text, "voluntary_ctxt_switches")
	for key, v := range map[string]*int{"Tgid": &s.tgid, "PPid": &s.ppid, "TracerPid": &s.tracer, "Uid": &s.uid} {
		word, _, _ := strings.Cut(statusField(text, key), "\t")
		if *v, err = strconv.Atoi(word); err != nil {
			return s, fmt.Errorf("read %s/%sstatus: %s is %q, not a number", p.dir.Name(), prefix, key, word)
		}
	}
	text, err = p.readFile(prefix + "stat")
	if err != nil {
		return s, err
	}
	// The text is "PID (NAME) STATE PPID PGRP SESSION TTY TPGID FLAGS", and NAME may contain
	// anything.
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(f) < 7 {
		return s, fmt.Errorf("read %s/%sstat: no flags in %q", p.dir.Name(), prefix, text)
	}
	s.flags, err = strconv.ParseUint(string(f[6]), 10, 64)
	return s, err
}

func statusField(text []byte, key string) string {
	for line := range bytes.Lines(text) {
		if v, ok := bytes.CutPrefix(line, []byte(key+":")); ok {
			return string(bytes.TrimSpace(v))
		}
	}
	return ""
}

// ended reports whether err, of a read below /proc/PID, says that the process or thread no longer
// exists.
func ended(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH)
}
