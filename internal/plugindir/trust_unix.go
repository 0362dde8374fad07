//go:build unix

package plugindir

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Trusted says who else than root and the user may change a file, or put another in its place,
// looking at it and at all folders above.
func Trusted(path string) error {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return err
	}
	for first := true; ; first = false {
		st, err := os.Stat(path)
		if err != nil {
			return err
		}
		sys, ok := st.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		uid := uint32(os.Geteuid())
		if sys.Uid != 0 && sys.Uid != uid {
			return fmt.Errorf("%s belongs to user %d: as user %d, name the program with --plugin if you trust it", path, sys.Uid, uid)
		}
		shared := st.Mode().Perm() & 0o022
		if sys.Gid == uid && sys.Gid == uint32(os.Getegid()) || sys.Gid == 0 {
			shared &^= 0o020 // a group of the user's own
		}
		// In a folder like /tmp nobody can replace what is another's.
		if shared != 0 && (first || st.Mode()&os.ModeSticky == 0) {
			return fmt.Errorf("others may write to %s: chmod go-w %s", path, path)
		}
		up := filepath.Dir(path)
		if up == path {
			return nil
		}
		path = up
	}
}
