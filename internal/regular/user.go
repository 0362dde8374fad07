package regular

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// User is somebody on whose word files are opened: who has named a path may have what the path
// leads to if this user may read it. nil is this program's own user.
type User struct {
	UID, GID int
	Groups   []int
	Called   string // who that is, for messages: "the process's user 33"
}

// Nobody is a user who may read only what everybody may read.
func Nobody(called string) *User { return &User{UID: overflow, GID: overflow, Called: called} }

// overflow is the number that stands for users and groups without a number of their own.
const overflow = 65534

// UserOf returns whose rights to files a process has, by its status (proc_pid_status(5)). The last
// number of Uid and of Gid is what the kernel goes by. If the text does not tell, that is nobody.
func UserOf(status []byte) *User {
	u := User{UID: -1, GID: -1}
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		var ids []int
		switch string(name) {
		case "Uid", "Gid", "Groups":
			for _, f := range bytes.Fields(value) {
				if id, err := strconv.ParseUint(string(f), 10, 31); err == nil {
					ids = append(ids, int(id))
				}
			}
		default:
			continue
		}
		switch {
		case string(name) == "Groups":
			u.Groups = ids
		case len(ids) != 4:
		case string(name) == "Uid":
			u.UID = ids[3]
		default:
			u.GID = ids[3]
		}
	}
	if u.UID < 0 || u.GID < 0 {
		return Nobody("the process, whose user is not known,")
	}
	u.Called = fmt.Sprintf("the process's user %d", u.UID)
	return &u
}

// NotAllowedError says that a file was not opened because the user on whose word that would have
// been may not read it.
type NotAllowedError struct {
	Path string // on this machine
	By   string // [User.Called]
}

// Error implements error.
func (e *NotAllowedError) Error() string {
	return fmt.Sprintf("%s is not read: %s may not read it (--trust-paths has it read)", e.Path, e.By)
}

// Unwrap returns [fs.ErrPermission].
func (e *NotAllowedError) Unwrap() error { return fs.ErrPermission }

// OpenIn has a file opened below a folder that this program's user has named. open opens it for
// whoever has named the file; if that user may not read it, it is opened if no link leads out of
// the folder.
func OpenIn(open func(root, name string) (*os.File, error), dir, name string) (*os.File, error) {
	f, err := open("", filepath.Join(dir, filepath.Join("/", name)))
	if errors.As(err, new(*NotAllowedError)) {
		if f, inside := (At{Root: dir, Path: name}).Open(); inside == nil {
			return f, nil
		}
	}
	return f, err
}

// Word says with whose rights files are opened that a target has named. The zero value has this
// program's own.
type Word struct {
	Here  *User // where this machine's own root is the root
	Below *User // where another folder is
}

// Open opens a file below a root, "" for this machine's own.
func (w Word) Open(root, name string) (*os.File, error) {
	if root == "" {
		return At{Path: name}.OpenAs(w.Here)
	}
	return At{Root: root, Path: name}.OpenAs(w.Below)
}

// WordOf returns the rights of a process that may have changed meanwhile: before and after are its
// status at the begin and the end of what else was found out about it. root is its root folder, nil
// if that is not known. A process with a root of its own does not see this machine's files: there
// it has the rights that everybody has.
func WordOf(before, after []byte, root *os.File) Word {
	u := UserOf(before)
	if now := UserOf(after); u.UID != now.UID || u.GID != now.GID || !slices.Equal(u.Groups, now.Groups) {
		u = Nobody("the process, whose user has just changed,")
	}
	if root != nil {
		its, err := root.Stat()
		if own, failed := os.Stat("/"); err == nil && failed == nil && !os.SameFile(its, own) {
			return Word{Here: Nobody("the process, which has a root folder of its own,"), Below: u}
		}
	}
	return Word{Here: u, Below: u}
}
