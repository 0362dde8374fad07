package regular

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// aclFor is an access control list that lets one more user read a file of root
// (linux/posix_acl_xattr.h).
func aclFor(uid byte) []byte {
	acl := []byte{2, 0, 0, 0}
	for _, e := range [][3]byte{{1, 6, 0}, {2, 4, uid}, {4, 0, 0}, {16, 4, 0}, {32, 0, 0}} { // owner, user, group, mask, others
		id := []byte{255, 255, 255, 255}
		if e[0] == 2 {
			id = []byte{e[2], 0, 0, 0}
		}
		acl = append(append(acl, e[0], 0, e[1], 0), id...)
	}
	return acl
}

// A file is opened on a user's word if cat can read it as that user, and not otherwise.
func TestOpenAs(t *testing.T) {
	gdbtest.NeedRoot(t)
	dir, err := os.MkdirTemp("/tmp", "user") // t.TempDir is below a folder of root's alone
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	tree(t, dir, "all", "owner", "group", "more", "list", "closed/all", "listed/all", "link -> all", "in -> closed/all", "out -> ../../../../etc/shadow")
	is := func(name string, mode os.FileMode, uid, gid int) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := errors.Join(os.Chown(name, uid, gid), os.Chmod(name, mode)); err != nil {
			t.Fatal(err)
		}
	}
	is("", 0o755, 0, 0)
	is("owner", 0o400, 77, 0)
	is("group", 0o040, 0, 78)
	is("more", 0o040, 0, 79)
	is("list", 0o600, 0, 0)
	is("closed", 0o700, 0, 0)
	is("listed", 0o711, 0, 0)
	if err := unix.Setxattr(filepath.Join(dir, "list"), "system.posix_acl_access", aclFor(77), 0); err != nil {
		t.Logf("no access control lists here: %v", err)
	}
	users := []*User{{UID: 77, GID: 78, Groups: []int{79}}, {UID: 77, GID: 77}, {UID: 80, GID: 80, Groups: []int{79}}, Nobody("nobody")}
	bothWays(t, func(t *testing.T) {
		for i, u := range users {
			for _, name := range []string{"all", "owner", "group", "more", "list", "closed/all", "listed/all", "link", "in", "out", "none"} {
				for _, at := range []At{{"", filepath.Join(dir, name)}, {dir, name}} {
					cmd := exec.Command("cat", filepath.Join(dir, name))
					groups := make([]uint32, len(u.Groups))
					for i, g := range u.Groups {
						groups[i] = uint32(g)
					}
					cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID), Groups: groups}}
					want, failed := cmd.Output()
					may := failed == nil && (at.Root == "" || name != "out")
					if at.Root != "" && name == "listed/all" && !useOpenat2 {
						continue // os.Root wants to read the folders on the way
					}
					var got []byte
					f, err := at.OpenAs(u)
					if err == nil {
						got, _ = io.ReadAll(f)
						f.Close()
					}
					refused := (*NotAllowedError)(nil)
					if (err == nil) != may || may && string(got) != string(want) {
						t.Errorf("user %d, %v: %q, %v; cat has %q, %v", i, at, got, err, want, failed)
					}
					if there := name != "none" && (name != "out" || at.Root == ""); errors.As(err, &refused) == (may || !there) {
						t.Errorf("user %d, %v: %v", i, at, err)
					}
					if own, err := at.Open(); err == nil {
						own.Close()
					} else if name != "none" && name != "out" {
						t.Errorf("%v afterwards: %v", at, err)
					}
				}
			}
		}
	})
}

// The root is this program's to open: the user need not be able to come there from without.
func TestOpenAsBelow(t *testing.T) {
	gdbtest.NeedRoot(t)
	root := filepath.Join(t.TempDir(), "root")
	tree(t, root, "file", "secret")
	if err := errors.Join(os.Chmod(filepath.Dir(root), 0o700), os.Chmod(filepath.Join(root, "secret"), 0o600)); err != nil {
		t.Fatal(err)
	}
	u := &User{UID: 77, GID: 77}
	if f, err := (At{root, "file"}).OpenAs(u); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	for _, at := range []At{{root, "secret"}, {"", filepath.Join(root, "file")}} {
		if _, err := at.OpenAs(u); !errors.As(err, new(*NotAllowedError)) {
			t.Errorf("%v: %v", at, err)
		}
	}
}

// A process has the rights that the kernel says it has; without the text, or with less than all of
// it, nobody's.
func TestUserOf(t *testing.T) {
	gdbtest.NeedRoot(t)
	cmd := exec.Command("cat", "/proc/self/status")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 77, Gid: 78, Groups: []uint32{79, 80}}}
	status, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if u := UserOf(status); fmt.Sprint(*u) != "{77 78 [79 80] the process's user 77}" {
		t.Errorf("%+v", u)
	}
	for _, text := range []string{"", "Uid:\t0\n", "Uid:\t0\t0\t0\t0\n", "Gid:\t0\t0\t0\t0\n", "Uid:\t0\t0\t0\t-1\nGid:\t0\t0\t0\t0\n"} {
		if u := UserOf([]byte(text)); u.UID != overflow || u.GID != overflow || len(u.Groups) > 0 {
			t.Errorf("%q: %+v", text, u)
		}
	}
	if u := UserOf([]byte(strings.Replace(string(status), "Uid:\t77\t77\t77\t77", "Uid:\t0\t0\t0\t77", 1))); u.UID != 77 {
		t.Errorf("%+v", u)
	}
}

func FuzzUserOf(f *testing.F) {
	f.Add([]byte("Name:\tcat\nUid:\t0\t0\t0\t77\nGid:\t0\t0\t0\t78\nGroups:\t79 80 \n"))
	f.Fuzz(func(t *testing.T, status []byte) {
		bounds.Hold(t, 4<<10+16*len(status), func() {
			if u := UserOf(status); u.UID < 0 || u.GID < 0 {
				t.Errorf("%+v", u)
			}
		})
	})
}
