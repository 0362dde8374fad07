package report

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/format/elf"
)

// fewLeftOut is how many files LeftOut names before it counts the rest.
const fewLeftOut = 3

// LeftOut collects warnings of files whose tables are left out for want of memory. A process
// can have thousands of such files, for one reason.
type LeftOut struct {
	files []string // paths
	all   []string // all warnings
	Short bool     // the command has no --explain
}

// Add takes err, a warning of the file at path, if it is of this kind.
func (l *LeftOut) Add(path string, err error) bool {
	if !errors.Is(err, elf.ErrBudget) {
		return false
	}
	if n := len(l.files); n == 0 || l.files[n-1] != path {
		l.files = append(l.files, path)
	}
	l.all = append(l.all, err.Error())
	return true
}

// Warnings returns every single warning if all is set or there are only a few, else one for all
// files.
func (l *LeftOut) Warnings(all bool) []string {
	if all || len(l.files) <= fewLeftOut {
		return l.all
	}
	text := fmt.Sprintf("%s and %d more files expand to too much, each or all together: of these, names and lines are missing, or come from other tables",
		strings.Join(l.files[:fewLeftOut], ", "), len(l.files)-fewLeftOut)
	if !l.Short {
		text += fmt.Sprintf("; --explain lists all (%d warnings)", len(l.all))
	}
	return []string{text}
}
