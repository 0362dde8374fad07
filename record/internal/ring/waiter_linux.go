package ring

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// waiter waits for any of some files. It is an epoll(7) file that Go's runtime waits for, as for a
// socket. A thread that waits in poll(2) would keep one of the runtime's processors, and the
// runtime looks fifty times and more whether that is to be taken away: this costs more than the
// samples of a tenth of a second.
type waiter struct {
	fd   int
	file *os.File
	conn syscall.RawConn
}

func newWaiter() (*waiter, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("wait for records: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // or the runtime does not wait for it
		unix.Close(fd)
		return nil, fmt.Errorf("wait for records: %w", err)
	}
	w := &waiter{fd: fd, file: os.NewFile(uintptr(fd), "epoll")}
	if w.conn, err = w.file.SyscallConn(); err != nil {
		w.file.Close()
		return nil, fmt.Errorf("wait for records: %w", err)
	}
	return w, nil
}

// add has wait return when a file becomes readable, or has ended.
func (w *waiter) add(fd int) error {
	return unix.EpollCtl(w.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// wait waits until a file becomes readable, ready returns true, or for some time. A file that has
// become so since the last call, and is so no more, may be missed: ready should know.
func (w *waiter) wait(timeout time.Duration, ready func() bool) error {
	if err := w.file.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	woken := false
	err := w.conn.Read(func(uintptr) bool {
		done := woken || ready()
		woken = true // the next call comes when a file is readable
		return done
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

func (w *waiter) close() error { return w.file.Close() }
