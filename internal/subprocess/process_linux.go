package subprocess

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keeperName is os.Args[0] of a keeper.
const keeperName = "sfwalk: keeper of a plug-in"

// Kinds of a keeper's messages.
const (
	saysFolder = "folder"
	saysPID    = "pid"   // of the command
	saysError  = "error" // an errno in decimal, or a text
	saysEnd    = "end"   // of the command: its status
)

// longest bounds a message, bytes: a socket takes no longer one.
const longest = 256 << 10

// hostFD is the descriptor of the socket to the process that has started the keeper.
const hostFD = 3

func init() {
	if os.Args[0] != keeperName || len(os.Args) != 2 {
		return
	}
	if kind, err := unix.GetsockoptInt(hostFD, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || kind != unix.SOCK_SEQPACKET {
		return // a program with the same name
	}
	// Signals that end the host are not for the keeper: it ends when the host has ended.
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGPIPE)
	keep(os.Args[1])
	os.Exit(0)
}

// keep runs a keeper, from its start to its end.
func keep(tmp string) {
	// The command inherits no files that the host has inherited.
	unix.CloseRange(hostFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	var folder string
	if err == nil {
		folder, err = os.MkdirTemp(tmp, "sfw-")
	}
	if err != nil {
		say(saysError, err.Error())
		return
	}
	defer os.RemoveAll(folder)
	if say(saysFolder, folder) != nil {
		return
	}
	f := family{folder: folder}
	if f.command, err = startNext(); err != nil {
		var number syscall.Errno
		text := err.Error()
		if errors.As(err, &number) {
			text = strconv.Itoa(int(number))
		}
		say(saysError, text)
		return
	}
	say(saysPID, strconv.Itoa(f.command))
	go func() {
		unix.Read(hostFD, make([]byte, 1)) // it returns when the host has ended, or asks for the end
		f.end.Do(f.kill)
	}()
	f.reap()
}

func say(kind, text string) error {
	return unix.Sendmsg(hostFD, []byte(kind+"\x00"+text), nil, nil, unix.MSG_NOSIGNAL)
}

// startNext starts the command that the host sends. It runs in an init function, thus in the main
// thread: the command's PR_SET_PDEATHSIG is about that thread, which lives as long as the process.
func startNext() (pid int, err error) {
	room, rights := make([]byte, longest), make([]byte, unix.CmsgSpace(8*4))
	n, m, _, _, err := unix.Recvmsg(hostFD, room, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return 0, errors.Join(err, os.ErrClosed)
	}
	control, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil || len(control) != 1 {
		return 0, errors.Join(err, os.ErrInvalid)
	}
	fds, err := unix.ParseUnixRights(&control[0])
	if err != nil {
		return 0, err
	}
	fields := strings.Split(string(room[:n]), "\x00")
	if len(fields) < 3 {
		return 0, os.ErrInvalid
	}
	path, dir := fields[0], fields[1]
	args, err := strconv.Atoi(fields[2])
	if fields = fields[3:]; err != nil || args > len(fields) || len(fds) < 3 {
		return 0, os.ErrInvalid
	}
	files := make([]uintptr, len(fds))
	for i, fd := range fds {
		files[i] = uintptr(fd)
	}
	if len(fds) > 3 {
		path = "/proc/self/fd/3"
	}
	pid, err = syscall.ForkExec(path, fields[:args], &syscall.ProcAttr{
		Dir: dir, Env: fields[args:], Files: files, Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	for _, fd := range fds {
		unix.Close(fd)
	}
	return pid, err
}

// family is the command with all that it has started.
type family struct {
	folder  string
	command int // its process ID
	end     sync.Once

	mu sync.Mutex // held while processes are reaped or killed: a PID cannot be used again before its process is reaped
}

// reap waits until all children have ended. When the command ends, it kills the others.
func (f *family) reap() {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT|unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		f.mu.Lock()
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOHANG, nil)
		if err == nil && pid == f.command {
			say(saysEnd, strconv.FormatUint(uint64(status), 10))
			go f.end.Do(f.kill)
		}
		f.mu.Unlock()
	}
}

// kill kills all children, and then their children, which become the keeper's, until none are left.
func (f *family) kill() {
	for before := []int(nil); ; {
		f.mu.Lock()
		list := children()
		others := 0
		for _, pid := range list {
			if unix.Kill(pid, unix.SIGKILL) == unix.EPERM {
				others++
			}
		}
		f.mu.Unlock()
		if others > 0 && others == len(list) {
			os.RemoveAll(f.folder)
			os.Exit(0) // all run as another user now (sudo): the keeper cannot kill them
		}
		if slices.Equal(list, before) { // they take some time to die
			time.Sleep(time.Millisecond)
		}
		before = list
	}
}

// children lists the children of this process.
func children() (list []int) {
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return childrenByParent()
		}
		for _, field := range bytes.Fields(text) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				list = append(list, pid)
			}
		}
	}
	if len(files) == 0 {
		return childrenByParent()
	}
	return list
}

// childrenByParent lists them on kernels without CONFIG_PROC_CHILDREN.
func childrenByParent() (list []int) {
	self := strconv.Itoa(os.Getpid())
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// PID (NAME) STATE PPID …, where a name may have brackets.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) > 1 && string(fields[1]) == self {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				list = append(list, pid)
			}
		}
	}
	return list
}
