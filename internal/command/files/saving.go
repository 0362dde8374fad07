package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/holes"
)

// Saving is a file for a snapshot that is not written yet.
type Saving struct {
	flag string // that names the file
	path string
	Tmp  *os.File // in the same folder
	name string   // of tmp; "" as long as it has none: then nothing is left of it if sfwalk is killed
}

// New makes the temporary file for a snapshot, so that a mistake is found before a process
// is touched. Only its owner can read it, for stacks hold secrets.
func New(flag, path string) (*Saving, error) {
	if path == "-" {
		return nil, exit.Misuse(fmt.Errorf("%s -: standard output has the stacks: name a file (./- is one)", flag))
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, exit.Misuse(fmt.Errorf("%s %s: not a regular file (%v)", flag, path, info.Mode().Type()))
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, path, err)
	}
	if tmp := openUnnamed(dir); tmp != nil {
		return &Saving{flag: flag, path: path, Tmp: tmp}, nil
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, path, err)
	}
	return &Saving{flag, path, tmp, tmp.Name()}, nil
}

// Content is what a file is made of.
type Content interface{ Write(w io.Writer) error }

// Write writes the file in one step: a reader finds the old file or the whole new one.
func (f *Saving) Write(s Content) error {
	out := holes.NewWriter(f.Tmp)
	err := errors.Join(s.Write(out), out.Close())
	if err == nil && f.name == "" {
		err = f.giveName()
	}
	if err = errors.Join(err, f.Tmp.Close()); err == nil {
		err = os.Rename(f.name, f.path)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", f.flag, f.path, err)
	}
	return nil
}

// Discard removes the temporary file if write has not renamed it.
func (f *Saving) Discard() {
	f.Tmp.Close()
	if f.name != "" {
		os.Remove(f.name)
	}
}
