package subprocess

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Keeper runs one command, and ends all that the command starts.
type Keeper struct {
	Folder string // for the command's files: no other user can enter it, and it is removed at the end

	socket *os.File // to the keeper's process
	killed sync.Once
	pid    int // of the command
}

// New starts a keeper, which makes a folder in another.
func New(tmp string) (*Keeper, error) {
	tmp, err := filepath.Abs(tmp)
	if err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	unix.SetNonblock(pair[0], true) // so that Kill ends a wait for a message
	k := &Keeper{socket: os.NewFile(uintptr(pair[0]), "keeper")}
	theirs := os.NewFile(uintptr(pair[1]), "keeper")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err == nil {
		var p *os.Process
		p, err = os.StartProcess("/proc/self/exe", []string{keeperName, tmp}, &os.ProcAttr{
			Dir: "/", Files: []*os.File{null, null, null, theirs}, Sys: &syscall.SysProcAttr{Setsid: true},
		})
		if err == nil {
			go p.Wait()
		}
		null.Close()
	}
	theirs.Close()
	if err == nil {
		var fields []string
		if fields, err = k.read(); err == nil && fields[0] != saysFolder {
			err = errors.New(fields[1])
		} else if err == nil {
			k.Folder = fields[1]
		}
	}
	if err != nil {
		k.socket.Close()
		return nil, fmt.Errorf("the process that is to see to the plug-in's end: %w", err)
	}
	return k, nil
}

// Start starts the command. It is in a process group of its own, and has no terminal.
func (k *Keeper) Start(c Command) error {
	fields := append([]string{c.Path, c.Dir, strconv.Itoa(len(c.Args))}, c.Args...)
	for _, text := range append(fields, c.Env...) {
		if strings.Contains(text, "\x00") {
			return fmt.Errorf("%q has a zero byte", text)
		}
	}
	var fds []int
	for _, f := range c.Files {
		fds = append(fds, int(f.Fd()))
	}
	if c.File != nil {
		fds = append(fds, int(c.File.Fd()))
	}
	message := []byte(strings.Join(append(fields, c.Env...), "\x00"))
	socket, err := k.socket.SyscallConn()
	if err != nil {
		return err
	}
	sent := socket.Write(func(fd uintptr) bool {
		err = unix.Sendmsg(int(fd), message, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
		return err != unix.EAGAIN
	})
	runtime.KeepAlive(c)
	if err = errors.Join(sent, err); err != nil {
		return err
	}
	reply, err := k.read()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(reply[1])
	switch {
	case err != nil:
		return errors.New(reply[1])
	case reply[0] != saysPID:
		return &os.PathError{Op: "fork/exec", Path: c.Path, Err: syscall.Errno(n)}
	}
	k.pid = n
	return nil
}

// PID is the command's, when it has been started.
func (k *Keeper) PID() int { return k.pid }

// Wait waits until the command has ended. The keeper then kills all that the command has started.
func (k *Keeper) Wait() Ended {
	reply, err := k.read()
	if err != nil || reply[0] != saysEnd {
		return Ended{How: "how is not known"}
	}
	status, _ := strconv.ParseUint(reply[1], 10, 32)
	return ended(syscall.WaitStatus(status))
}

// Gone waits until all that the command has started has ended, and the folder is removed.
func (k *Keeper) Gone() {
	for {
		if _, err := k.read(); err != nil {
			k.socket.Close()
			os.RemoveAll(k.Folder) // a keeper that was killed has left it
			return
		}
	}
}

// Kill has the keeper kill the command and all that it has started, and remove the folder.
func (k *Keeper) Kill() {
	k.killed.Do(func() {
		if socket, err := k.socket.SyscallConn(); err == nil {
			socket.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_WR) })
		}
	})
}

// read reads a message of the keeper.
func (k *Keeper) read() ([]string, error) {
	room := make([]byte, longest)
	n, err := k.socket.Read(room)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF
	}
	kind, text, _ := strings.Cut(string(room[:n]), "\x00")
	return []string{kind, text}, nil
}

// ended describes a wait status as [os.ProcessState] does.
func ended(s syscall.WaitStatus) Ended {
	switch {
	case s.Exited():
		return Ended{"exit status " + strconv.Itoa(s.ExitStatus()), s.ExitStatus() == 0}
	case s.Signaled() && s.CoreDump():
		return Ended{"signal: " + s.Signal().String() + " (core dumped)", false}
	case s.Signaled():
		return Ended{"signal: " + s.Signal().String(), false}
	}
	return Ended{How: fmt.Sprintf("status %#x", uint32(s))}
}
