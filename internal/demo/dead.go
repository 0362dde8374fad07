package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Dead is a process that has died, as a core file. It serves where no live
// process can be looked at.
type Dead struct {
	Core, Exe string // paths

	dir string
}

// Bury writes the bundled core file and its program to a new folder under
// os.TempDir. Remove removes it.
func Bury() (*Dead, error) {
	if program == nil {
		return nil, platformError()
	}
	if deadCore == nil {
		return nil, fmt.Errorf("%w, and there is no core file of it", ErrEmulated)
	}
	dir, err := os.MkdirTemp("", "sfwalk-demo-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the demo's core file: %w", err)
	}
	d := &Dead{Core: filepath.Join(dir, "core.xz"), Exe: filepath.Join(dir, "stacks"), dir: dir}
	if err := errors.Join(os.WriteFile(d.Core, deadCore, 0o600), os.WriteFile(d.Exe, deadProgram, 0o600)); err != nil {
		return nil, errors.Join(fmt.Errorf("write the demo's core file: %w", err), d.Remove())
	}
	return d, nil
}

// Remove removes the files.
func (d *Dead) Remove() error { return os.RemoveAll(d.dir) }
