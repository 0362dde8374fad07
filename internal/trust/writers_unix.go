//go:build unix

package trust

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// owner returns an error if a file belongs to another user than root and this one.
func owner(path string, uid uint32) error {
	if uid != 0 && uid != uint32(os.Geteuid()) {
		return fmt.Errorf("%s belongs to user %d", path, uid)
	}
	return nil
}

// modeWriters returns an error if others may write to a file of root's or the user's, by its mode.
func modeWriters(path string, mode, gid uint32) error {
	if mode&0o002 != 0 {
		return writable(path, "")
	}
	if mode&0o020 != 0 {
		return groupWrites(path, gid)
	}
	return nil
}

// writable returns an error that says that others may write to a file. Its remedy also takes the
// right from all users in an access control list.
func writable(path, who string) error {
	return fmt.Errorf("others may write to %s%s: chmod go-w %s", path, who, path)
}

// groupWrites returns an error if a group that may write to a file has other members.
func groupWrites(path string, gid uint32) error {
	own := gid == 0 || gid == uint32(os.Geteuid()) && gid == uint32(os.Getegid())
	if !own {
		return writable(path, fmt.Sprintf(" (group %d)", gid))
	}
	who, err := member(gid)
	if err != nil {
		return fmt.Errorf("%s can be written by group %d, and who that is cannot be told: %w: chmod go-w %s", path, gid, err, path)
	}
	if who != "" {
		return writable(path, fmt.Sprintf(" (%s is in group %d)", who, gid))
	}
	return nil
}

// etc is the folder where members of groups are listed.
var etc = "/etc"

// member returns the name of a member of a group beside root and the user; "" if there is none. It
// does not know the groups of other systems' users (LDAP): they have numbers that are neither
// root's nor the user's own.
func member(gid uint32) (name string, err error) {
	group := strconv.FormatUint(uint64(gid), 10)
	trusted := map[string]bool{"": true, "root": true}
	own := []string{"0", strconv.Itoa(os.Geteuid())}
	err = lines(filepath.Join(etc, "passwd"), func(fields []string) {
		switch { // name:password:UID:GID:…
		case len(fields) < 4:
		case slices.Contains(own, fields[2]):
			trusted[fields[0]] = true
		case fields[3] == group && name == "":
			name = fields[0]
		}
	})
	if err != nil || name != "" {
		return name, err
	}
	err = lines(filepath.Join(etc, "group"), func(fields []string) {
		if len(fields) < 4 || fields[2] != group { // name:password:GID:name,name
			return
		}
		for user := range strings.SplitSeq(fields[3], ",") {
			if !trusted[user] && name == "" {
				name = user
			}
		}
	})
	return name, err
}

// lines reads the fields of a file's lines. It is no error if there is no such file.
func lines(path string, line func(fields []string)) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	list := bufio.NewScanner(f)
	for list.Scan() {
		line(strings.Split(list.Text(), ":"))
	}
	return list.Err()
}
