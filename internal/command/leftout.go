package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/elfimage"
)

// fewLeftOut is how many files are named of which something is left out for want of room.
const fewLeftOut = 3

// leftOut are what users should know of files of which something is left out for want of room: a
// process can have thousands of them, for one reason.
type leftOut struct {
	files []string // their paths
	all   []string // the warnings
}

// add takes a warning of a file, if it is of this kind.
func (l *leftOut) add(path string, err error) bool {
	if !errors.Is(err, elfimage.ErrBudget) {
		return false
	}
	if n := len(l.files); n == 0 || l.files[n-1] != path {
		l.files = append(l.files, path)
	}
	l.all = append(l.all, err.Error())
	return true
}

// warnings are those of all files, in one where there are too many; all of them where the user asks.
func (l *leftOut) warnings(all bool) []string {
	if all || len(l.files) <= fewLeftOut {
		return l.all
	}
	return []string{fmt.Sprintf("%s and %d more files expand to too much, each or all together: of these, names and lines are missing, or come from other tables; --explain lists all (%d warnings)",
		strings.Join(l.files[:fewLeftOut], ", "), len(l.files)-fewLeftOut, len(l.all))}
}
