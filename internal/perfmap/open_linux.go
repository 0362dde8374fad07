package perfmap

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// OpenOf opens /tmp/perf-PID.map of a process, whose own namespaces say where that is and which
// number it has. When the process has ended, the file may be left. A file of another user than the
// process's, or root's, is refused: /tmp is everybody's. One that was written before the process
// has started is an earlier process's, which had the number: the error is fs.ErrNotExist then.
func OpenOf(pid int) (*os.File, error) {
	at, number, user, word := regular.At{}, pid, os.Geteuid(), regular.Word{}
	if status, err := os.ReadFile(procdir.File(pid, "status")); err == nil {
		if id, uid := Owner(bytes.NewReader(status)); id > 0 {
			at.Root, number, user, word.Below = procdir.File(pid, "root"), id, uid, regular.UserOf(status)
		}
	}
	f, err := OpenOwned(at.With(fmt.Sprintf("/tmp/perf-%d.map", number)), user, word.Open)
	if err != nil {
		return nil, err
	}
	start, known := started(pid)
	if info, err := f.Stat(); err == nil && known && info.ModTime().Add(slack).Before(start) {
		f.Close()
		return nil, fmt.Errorf("%s: it is older than the process: %w", f.Name(), fs.ErrNotExist)
	}
	return f, nil
}

// slack is how much earlier than a process a file may seem that the process has written: clocks are
// coarse, and are set.
const slack = 10 * time.Second

// started returns when a process has started.
func started(pid int) (at time.Time, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // the process's, also if its first thread has ended
	if err != nil {
		return at, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the name before it may have anything
	const starttime, ticks = 22 - 3, 100                            // proc_pid_stat(5); of USER_HZ a second
	var now unix.Timespec
	if len(fields) <= starttime || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return at, false
	}
	n, err := strconv.ParseInt(string(fields[starttime]), 10, 64)
	if err != nil || n < 0 || n > now.Nano()/int64(time.Second/ticks)+ticks {
		return at, false
	}
	return time.Now().Add(time.Duration(n)*(time.Second/ticks) - time.Duration(now.Nano())), true
}

// OpenOwned has a file opened, by open, that belongs to a user, or to root.
func OpenOwned(at regular.At, user int, open func(root, path string) (*os.File, error)) (*os.File, error) {
	f, err := open(at.Root, at.Path)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(int(f.Fd()), &st); err == nil && st.Uid != 0 && int(st.Uid) != user {
		err = fmt.Errorf("%s: it belongs to another user", f.Name())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
