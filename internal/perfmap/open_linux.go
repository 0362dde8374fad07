package perfmap

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// OpenOf opens /tmp/perf-PID.map of a process, whose own namespaces say where that is and which
// number it has. When the process has ended, the file may be left. A file of another user than the
// process's, or root's, is refused: /tmp is everybody's.
func OpenOf(pid int) (*os.File, error) {
	at, number, user, word := regular.At{}, pid, os.Geteuid(), regular.Word{}
	if status, err := os.ReadFile(procdir.File(pid, "status")); err == nil {
		if id, uid := Owner(bytes.NewReader(status)); id > 0 {
			at.Root, number, user, word.Below = procdir.File(pid, "root"), id, uid, regular.UserOf(status)
		}
	}
	return OpenOwned(at.With(fmt.Sprintf("/tmp/perf-%d.map", number)), user, word.Open)
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
