package trust

import (
	"os"
	"path/filepath"
	"strings"
)

// Temporary returns an error if others may exchange the user's files in a folder for temporary
// files. In one like /tmp, with the sticky bit, they may not.
func Temporary(dir string) error {
	f, err := open(dir, true)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Others
}

// SearchPath returns the folders of a list like PATH where no other user may put programs.
func SearchPath(list string) string {
	var kept []string
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if f, err := Open(dir); err == nil {
			if f.Others == nil {
				kept = append(kept, dir)
			}
			f.Close()
		}
	}
	return strings.Join(kept, string(os.PathListSeparator))
}
