package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// own reports whether u is this program's own user.
func (u *User) own() bool { return u == nil || u.UID == os.Geteuid() }

// OpenAs is [At.Open] as far as a user may read the file: the kernel decides, by the rights to all
// that is on the way, as for a process of that user. The root is this program's to open. The error
// is a [NotAllowedError] if this program may read the file and the user may not, or if this program
// may not ask the kernel as that user: that takes CAP_SETUID and CAP_SETGID.
func (a At) OpenAs(u *User) (*os.File, error) {
	if u.own() {
		return a.Open()
	}
	if _, err := a.Stat(); err != nil {
		return nil, err // most files that are looked for are not there
	}
	var f *os.File
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		f, err = a.openAs(u)
	}()
	<-done
	if errors.Is(err, fs.ErrPermission) {
		return nil, &NotAllowedError{a.String(), u.Called}
	}
	return f, err
}

// openAs opens a file with the rights of a user, which this thread has meanwhile. If the thread
// does not get its own rights back, it ends with the goroutine.
func (a At) openAs(u *User) (*os.File, error) {
	runtime.LockOSThread()
	own, err := ownRights()
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", fs.ErrPermission, err)
	}
	f, err := a.openWith(func() error { return own.of(u).take() })
	if own.take() == nil {
		runtime.UnlockOSThread()
	}
	return f, err
}

// rights are a thread's rights to files. Other threads of this program keep theirs.
type rights struct {
	uid, gid int
	groups   []int
	caps     [2]unix.CapUserData
}

func ownRights() (r rights, err error) {
	r.uid, r.gid = os.Geteuid(), os.Getegid()
	if r.groups, err = unix.Getgroups(); err != nil {
		return r, err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	return r, unix.Capget(&header, &r.caps[0])
}

// of returns the rights of a user, without the capabilities to do more to files than their modes
// allow.
func (r rights) of(u *User) rights {
	caps := r.caps
	caps[0].Effective &^= 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER |
		1<<unix.CAP_FSETID | 1<<unix.CAP_LINUX_IMMUTABLE | 1<<unix.CAP_MKNOD
	caps[1].Effective &^= 1 << (unix.CAP_MAC_OVERRIDE - 32)
	return rights{u.UID, u.GID, u.Groups, caps}
}

// take gives this thread the rights. All that the kernel does not do is an error.
func (r rights) take() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	err := unix.Setgroups(r.groups)
	unix.Setfsgid(r.gid)
	unix.Setfsuid(r.uid) // it takes capabilities, or gives them back
	// -1 is no user: the answer is what is so now.
	uid, _ := unix.SetfsuidRetUid(-1)
	gid, _ := unix.SetfsgidRetGid(-1)
	if err == nil {
		err = unix.Capset(&header, &r.caps[0])
	}
	if err == nil && (uid != r.uid || gid != r.gid) {
		err = unix.EPERM
	}
	return err
}

// OwnerOf returns the user on whose word an open file is: its owner, with the groups that this
// machine knows of; nil if that is root. If this program may not open files as others, it has its
// own rights alone, and lends nobody more: OwnerOf returns nil then, too.
func OwnerOf(f *os.File) *User {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return Nobody("its owner, who is not known,")
	}
	if os.Geteuid() != 0 {
		return nil
	}
	if st.Uid == 0 {
		// systemd-coredump keeps cores as root's, and notes whose process it was. Who may write
		// that may write the file.
		var text [20]byte
		n, _ := unix.Fgetxattr(int(f.Fd()), "user.coredump.uid", text[:])
		if uid, err := strconv.ParseUint(string(text[:max(n, 0)]), 10, 31); err == nil {
			st.Uid = uint32(uid)
		}
	}
	if st.Uid == 0 {
		return nil
	}
	u := Nobody(fmt.Sprintf("its owner, user %d,", st.Uid))
	u.UID = int(st.Uid)
	known, err := user.LookupId(strconv.Itoa(u.UID))
	if err != nil {
		return u
	}
	if gid, err := strconv.Atoi(known.Gid); err == nil {
		u.GID = gid
	}
	groups, _ := known.GroupIds()
	for _, text := range groups {
		if gid, err := strconv.Atoi(text); err == nil {
			u.Groups = append(u.Groups, gid)
		}
	}
	return u
}
