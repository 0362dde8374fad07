package external

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sfwalk/sfwalk/internal/plugindir"
	"github.com/sfwalk/sfwalk/internal/trust"
)

// Dirs returns the directories of plug-ins: the directories that the environment variable
// SFWALK_PLUGIN_PATH lists, then sfwalk/plugins in the user's configuration folder (~/.config).
// They need not exist.
func Dirs() []string { return plugindir.Dirs() }

// Found is a plug-in in a directory.
type Found struct {
	Path   string
	SHA256 string // the checksum that the directory's lock file pins; "" without a lock file
}

// LockFile is the name of the file that pins the checksums of a directory's plug-ins, in the format
// of sha256sum(1). [Find] leaves out a plug-in that its directory's lock file does not list.
const LockFile = "plugins.lock"

// Find lists the plug-ins in directories, by name: executable files with names that begin with
// "sniffer-" or "decorator-". It leaves out directories and programs that others than root and the
// user own or may write to. The warnings say what it left out, why, and what to do. Start the
// plug-ins with [Options].Guard, which checks them again.
func Find(dirs ...string) (list []Found, warnings []error) {
	for _, dir := range dirs {
		candidates := plugindir.Candidates(dir)
		if len(candidates) == 0 {
			continue
		}
		if err := others(dir); err != nil {
			warnings = append(warnings, fmt.Errorf("plug-ins in %s: %w: they are left out", dir, err))
			continue
		}
		lock, err := readLock(filepath.Join(dir, LockFile))
		if err != nil {
			warnings = append(warnings, fmt.Errorf("plug-ins in %s: %w: they are left out", dir, err))
			continue
		}
		for _, path := range candidates {
			err := usable(path)
			sum := lock[filepath.Base(path)]
			if err == nil && lock != nil && sum == "" {
				err = fmt.Errorf("%s does not list it; if you trust it: cd %s && sha256sum %s >> %s", LockFile, dir, filepath.Base(path), LockFile)
			}
			if err != nil {
				warnings = append(warnings, fmt.Errorf("plug-in %s: %w: it is left out", path, err))
				continue
			}
			list = append(list, Found{path, sum})
		}
	}
	return list, warnings
}

// others returns an error if another user may write to a file, or put another in its place.
func others(path string) error {
	f, err := trust.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return distrusted(f.Others)
}

// distrusted adds advice to the error others: how to use a file that is not trusted as it is.
func distrusted(others error) error {
	if others == nil {
		return nil
	}
	return fmt.Errorf("%w; if you trust it, name the program with --plugin", others)
}

// usable returns an error if a program in a directory must not be started.
func usable(path string) error {
	p, err := open(path)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.guard()
}

var lockLine = regexp.MustCompile(`^([0-9a-fA-F]{64}) [ *](?:\./)?([^/]+)$`)

// readLock returns the checksums of a lock file, by name. It returns nil if there is no such file.
func readLock(path string) (map[string]string, error) {
	const most = 1 << 20
	file, err := trust.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	switch {
	case file.Others != nil:
		return nil, distrusted(file.Others)
	case !file.Info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := file.Reader()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lock := make(map[string]string)
	lines := bufio.NewScanner(io.LimitReader(f, most))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := lockLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("%s: line %d: want a checksum of %d hexadecimal digits, two blanks and a file's name, as sha256sum writes them", path, n, 2*sha256.Size)
		}
		lock[m[2]] = m[1]
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lock, nil
}
