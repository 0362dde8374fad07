package trust

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// entry is one of an access control list.
type entry struct {
	tag, perm uint16
	id        uint32
}

const none = ^uint32(0)

// list makes an access control list as setfacl(1) hands it to the kernel, which checks it.
func list(entries ...entry) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

// mallory is a user without an account, and the only member of gang, a group.
const mallory, gang = 12345, 4711

// as runs a command as a user that may have groups, and reports whether it succeeds.
func as(uid uint32, groups []uint32, name string, args ...string) bool {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, Groups: groups}}
	return cmd.Run() == nil
}

// reachable returns a folder for a test that all can come to.
func reachable(t *testing.T) string {
	t.Helper()
	gdbtest.NeedRoot(t)
	dir, err := os.MkdirTemp("/tmp", "sfw-trust-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Open names each user that can write to a file or put one into a folder, by the kernel's rules,
// and no others.
func TestWriters(t *testing.T) {
	top := reachable(t)
	defer func(was string) { etc = was }(etc)
	etc = t.TempDir()
	group := "root:x:0:\nsudo:x:27:alice\n"
	if err := os.WriteFile(filepath.Join(etc, "group"), []byte(group), 0o600); err != nil {
		t.Fatal(err)
	}
	user, mask, other := entry{1, 7, none}, entry{aclMask, 7, none}, entry{aclOther, 5, none}
	own := entry{aclGroupObj, 5, none}
	for i, tt := range []struct {
		name     string
		uid, gid int
		mode     os.FileMode
		acl      []byte
		want     string // part of the message; "" if no other user may write
	}{
		{"root's alone", 0, 0, 0o755, nil, ""},
		{"all", 0, 0, 0o757, nil, "chmod go-w"},
		{"root's group, nobody in it", 0, 0, 0o775, nil, ""},
		{"another group", 0, gang, 0o775, nil, "group 4711"},
		{"another's", mallory, 0, 0o755, nil, "belongs to user 12345"},
		{"another's, who may not write now", mallory, 0, 0o555, nil, "belongs to user 12345"},
		{"a list, a named user", 0, 0, 0o775, list(user, entry{aclUser, 7, mallory}, own, mask, other), "user 12345"},
		{"a list, a named user whom the mask stops", 0, 0, 0o755, list(user, entry{aclUser, 7, mallory}, own, entry{aclMask, 5, none}, other), ""},
		{"a list, a named user who may read", 0, 0, 0o775, list(user, entry{aclUser, 5, mallory}, entry{aclGroupObj, 7, none}, mask, other), ""},
		{"a list, root by name", 0, 0, 0o775, list(user, entry{aclUser, 7, 0}, own, mask, other), ""},
		{"a list, a named group", 0, 0, 0o775, list(user, own, entry{aclGroup, 7, gang}, mask, other), "group 4711"},
		{"a list, the owning group", 0, gang, 0o775, list(user, entry{aclUser, 5, 1}, entry{aclGroupObj, 7, none}, mask, other), "group 4711"},
		{"a list, the owning group whom the mask stops", 0, gang, 0o755, list(user, entry{aclGroupObj, 7, none}, entry{aclMask, 5, none}, other), ""},
		{"a list, all", 0, 0, 0o757, list(user, own, entry{aclMask, 5, none}, entry{aclOther, 7, none}), "chmod go-w"},
	} {
		for _, what := range []string{"folder", "file", "on the way"} {
			t.Run(tt.name+", "+what, func(t *testing.T) {
				path := filepath.Join(top, strconv.Itoa(i)+what)
				try := filepath.Join(path, "new")
				var err error
				if what == "file" {
					err = os.WriteFile(path, nil, 0o755)
					try = path
				} else {
					err = os.Mkdir(path, 0o755)
				}
				if err == nil {
					err = os.Chown(path, tt.uid, tt.gid)
				}
				if err == nil {
					err = os.Chmod(path, tt.mode)
				}
				if err == nil && tt.acl != nil {
					if err = unix.Setxattr(path, posixACL, tt.acl, 0); err == unix.ENOTSUP {
						gdbtest.Cannot(t, "/tmp has no access control lists")
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				open := path
				if what == "on the way" {
					open = filepath.Join(path, "program")
					if err := os.WriteFile(open, nil, 0o755); err != nil {
						t.Fatal(err)
					}
				}
				f, err := Open(open)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				can := as(mallory, []uint32{gang}, "/bin/sh", "-c", `: >> "$0"`, try) || tt.uid == mallory
				if can != (tt.want != "") {
					t.Fatalf("the test is wrong: mallory can write: %v", can)
				}
				switch {
				case tt.want == "" && f.Others != nil:
					t.Errorf("nobody else may write, and it says %v", f.Others)
				case tt.want != "" && (f.Others == nil || !strings.Contains(f.Others.Error(), tt.want) || !strings.Contains(f.Others.Error(), path)):
					t.Errorf("it says %v, want %q of %s", f.Others, tt.want, path)
				}
				// The remedy in the message helps.
				if f.Others != nil && tt.uid == 0 {
					if err := exec.Command("chmod", "go-w", path).Run(); err != nil {
						t.Fatal(err)
					}
					if what != "file" {
						try += "er" // mallory's own file has the name by now
					}
					if as(mallory, []uint32{gang}, "/bin/sh", "-c", `: >> "$0"`, try) {
						t.Error("mallory can write after chmod go-w")
					}
					again, err := Open(open)
					if err != nil || again.Others != nil {
						t.Errorf("after chmod go-w: %v, %v", err, again.Others)
					}
					again.Close()
				}
			})
		}
	}
}

// Root's group has the members that /etc lists.
func TestMembers(t *testing.T) {
	top := reachable(t)
	if err := os.Chmod(top, 0o775); err != nil {
		t.Fatal(err)
	}
	defer func(was string) { etc = was }(etc)
	for _, tt := range []struct{ passwd, group, want string }{
		{"root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000::/:\n", "root:x:0:\nalice:x:1000:\n", ""},
		{"root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/:\n", "root:x:0:root,toor\n", ""},
		{"root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000::/:\n", "root:x:0:alice\n", "alice is in group 0"},
		{"root:x:0:0:root:/root:/bin/sh\nbob:x:1001:0::/:\n", "root:x:0:\n", "bob is in group 0"},
	} {
		etc = t.TempDir()
		for name, text := range map[string]string{"passwd": tt.passwd, "group": tt.group} {
			if err := os.WriteFile(filepath.Join(etc, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f, err := Open(top)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got := f.Others; (got == nil) != (tt.want == "") || got != nil && !strings.Contains(got.Error(), tt.want) {
			t.Errorf("%q, %q: %v, want %q", tt.passwd, tt.group, got, tt.want)
		}
	}
}

// Paths lead where readlink(1) says, and the folder of each link on the way counts.
func TestLinks(t *testing.T) {
	top := reachable(t)
	for _, dir := range []string{"good", "good/deep", "theirs", "sticky"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(top, name) }
	do := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	do(os.WriteFile(at("good/deep/program"), nil, 0o755), os.Chmod(at("sticky"), 0o777|os.ModeSticky))
	do(os.Chown(at("theirs"), mallory, mallory))
	do(os.Symlink("deep/../deep/program", at("good/relative")), os.Symlink(at("good/relative"), at("good/twice")))
	do(os.Symlink("../good/deep", at("theirs/link")), os.Symlink(at("good/deep"), at("sticky/root")), os.Symlink(at("good/deep"), at("sticky/theirs")))
	do(os.Lchown(at("sticky/theirs"), mallory, mallory), os.Symlink(at("theirs/link"), at("good/through")))
	do(os.Symlink("loop", at("good/loop")), os.Symlink("/", at("good/slash")))
	for _, tt := range []struct{ path, want string }{
		{"good/deep/program", ""},
		{"good/relative", ""},
		{"good/twice", ""},
		{"good/slash" + at("good/twice"), ""},
		{"sticky/root/program", ""},
		{"theirs/link/program", "belongs to user 12345"},
		{"good/through/program", "belongs to user 12345"},
		{"good/through/../deep/program", ""}, // filepath.Abs has taken the link out
		{"sticky/theirs/program", "belongs to user 12345"},
		{"sticky", "others may write"},
	} {
		f, err := Open(at(tt.path))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		real, err := exec.Command("readlink", "-f", at(tt.path)).Output()
		if err != nil || f.Path+"\n" != string(real) {
			t.Errorf("%s leads to %s, readlink says %s, %v", tt.path, f.Path, real, err)
		}
		if got := f.Others; (got == nil) != (tt.want == "") || got != nil && !strings.Contains(got.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.path, got, tt.want)
		}
	}
	for path, want := range map[string]error{"good/loop": unix.ELOOP, "good/none": unix.ENOENT, "good/deep/program/x": unix.ENOTDIR} {
		if f, err := Open(at(path)); !strings.HasSuffix(errorText(err), want.Error()) {
			t.Errorf("%s: %v, %v, want %v", path, f, err, want)
		}
	}
	if err := Temporary(at("sticky")); err != nil {
		t.Errorf("a folder like /tmp: %v", err)
	}
	if Temporary(at("theirs")) == nil {
		t.Error("another's folder for temporary files is trusted")
	}
	if got, want := SearchPath(strings.Join([]string{at("good"), "good", "", at("theirs"), at("none"), at("sticky"), at("good/deep")}, ":")), at("good")+":"+at("good/deep"); got != want {
		t.Errorf("PATH %s, want %s", got, want)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The held file stays the same when names change.
func TestHeld(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("first"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("second"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var text [16]byte
	if n, _ := r.Read(text[:]); string(text[:n]) != "first" {
		t.Errorf("it reads %q", text[:n])
	}
}
