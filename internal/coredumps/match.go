package coredumps

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Matches are conditions on cores. A core must meet all; of several on one field, one.
type Matches struct {
	fields map[string][]string // the wanted values by the field
}

// fields returns the values of the journal's fields (systemd.journal-fields(7)) that the files
// tell.
var fields = map[string]func(*Core) string{
	"COREDUMP_PID":       func(c *Core) string { return strconv.Itoa(c.PID) },
	"COREDUMP_UID":       func(c *Core) string { return strconv.Itoa(c.UID) },
	"COREDUMP_GID":       func(c *Core) string { return known(c.GID, -1) },
	"COREDUMP_SIGNAL":    func(c *Core) string { return known(c.Signal, 0) },
	"COREDUMP_COMM":      func(c *Core) string { return c.Comm },
	"COREDUMP_EXE":       func(c *Core) string { return c.Exe },
	"COREDUMP_HOSTNAME":  func(c *Core) string { return c.Hostname },
	"COREDUMP_FILENAME":  func(c *Core) string { return c.Path },
	"COREDUMP_TIMESTAMP": func(c *Core) string { return strconv.FormatInt(c.Time.UnixMicro(), 10) },
	"_BOOT_ID":           func(c *Core) string { return c.BootID },
	"_HOSTNAME":          func(c *Core) string { return c.Hostname },
}

// known returns a number, or "" if it is the one that stands for none.
func known(n, none int) string {
	if n == none {
		return ""
	}
	return strconv.Itoa(n)
}

// NewMatches reads conditions as coredumpctl has them: FIELD=VALUE, a program's path (which has a
// slash), a PID, or else a program's name (COMM). The error names a field that the files do not
// tell.
func NewMatches(texts []string) (*Matches, error) {
	m := &Matches{fields: map[string][]string{}}
	for _, text := range texts {
		field, value, ok := strings.Cut(text, "=")
		switch {
		case ok && fields[field] == nil:
			return nil, fmt.Errorf("%s: the files tell nothing of %q, only the journal does: coredumpctl dump %s | sfwalk core -. They tell of %s",
				text, field, text, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		case ok:
		case strings.Contains(text, "/"):
			path, err := filepath.Abs(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", text, err)
			}
			field, value = "COREDUMP_EXE", path
		case isPID(text):
			field, value = "COREDUMP_PID", text
		case text == "":
			return nil, fmt.Errorf(`"": want a PID, a program's name or path, or FIELD=VALUE`)
		default:
			field, value = "COREDUMP_COMM", text
		}
		m.fields[field] = append(m.fields[field], value)
	}
	return m, nil
}

func isPID(text string) bool {
	n, err := strconv.ParseUint(text, 10, 31)
	return err == nil && n > 0
}

// Match reports whether a core meets the conditions.
func (m *Matches) Match(c *Core) bool {
	for field, values := range m.fields {
		have := fields[field](c)
		if have == "" || !slices.Contains(values, have) {
			return false
		}
	}
	return true
}
