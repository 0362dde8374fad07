package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/holes"
)

// Saving is a file that is not written yet.
type Saving struct {
	flag  string // that names the file
	path  string // as the user has given it
	to    string // the file itself, behind symbolic links
	Tmp   *os.File
	name  string // of Tmp, in the same folder; "" as long as it has none: then nothing is left of it if sfwalk is killed
	whole bool   // Tmp is what the user has named: it is written as it is
	done  bool   // Tmp is closed

	stdout io.Writer // in place of Tmp
}

// New makes the temporary file for a snapshot, so that a mistake is found before a process
// is touched. Only its owner can read it, for stacks hold secrets. The path "-" is stdout.
func New(flag, path string, stdout io.Writer) (*Saving, error) {
	if path == "-" {
		if f, ok := stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			return nil, exit.Misuse(fmt.Errorf("%s -: standard output is a terminal: name a file, or write to a pipe", flag))
		}
		return &Saving{flag: flag, path: path, stdout: stdout, whole: true}, nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, exit.Misuse(fmt.Errorf("%s %s: not a regular file (%v)", flag, path, info.Mode().Type()))
	}
	return create(flag, path, 0o600, false)
}

// Create makes the temporary file for a command's output, before the command does its work. A file
// that is there keeps its rights; a new one has perm, as far as the umask lets it. What is no
// regular file, such as a pipe, is written as it is.
func Create(flag, path string, perm os.FileMode) (*Saving, error) {
	return create(flag, path, perm, true)
}

func create(flag, path string, perm os.FileMode, keep bool) (s *Saving, err error) {
	defer func() {
		var usage exit.Usage
		if err != nil && !errors.As(err, &usage) {
			err = fmt.Errorf("%s %s: %w", flag, path, exit.WithoutName(err))
		}
	}()
	s = &Saving{flag: flag, path: path, to: path}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, exit.Misuse(fmt.Errorf("%s %s: it is a folder: name a file in it", flag, path))
	case err == nil && !info.Mode().IsRegular():
		s.whole = true
		s.Tmp, err = os.OpenFile(path, os.O_WRONLY, 0)
		return s, err
	case err == nil:
		if s.to, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(s.to, os.O_WRONLY, 0) // whether it may be written, its folder does not tell
		if err != nil {
			return nil, err
		}
		f.Close()
		if keep {
			perm = info.Mode().Perm()
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case filepath.Base(path) == "." || filepath.Base(path) == ".." || os.IsPathSeparator(path[len(path)-1]):
		return nil, exit.Misuse(fmt.Errorf("%s %s: it is a folder that is not there: name a file", flag, path))
	}
	if to, err := os.Readlink(path); err == nil && info == nil { // a link to what is not there yet
		if s.to = to; !filepath.IsAbs(to) {
			s.to = filepath.Join(filepath.Dir(path), to)
		}
	}
	dir := filepath.Dir(s.to)
	if at, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s: make it first", dir)
	} else if err == nil && !at.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", dir)
	}
	if s.Tmp = openUnnamed(dir, perm); s.Tmp == nil {
		s.Tmp, err = openNamed(dir, s.to, perm)
		switch {
		case err == nil:
			s.name = s.Tmp.Name()
		case info == nil:
			return nil, fmt.Errorf("the folder %s cannot be written to: %w", dir, exit.WithoutName(err))
		default:
			s.whole = true // the file can be, as it is
			s.Tmp, err = os.OpenFile(s.to, os.O_WRONLY, 0)
			return s, err
		}
	}
	if info != nil && keep {
		if err := s.Tmp.Chmod(perm); err != nil {
			s.Discard()
			return nil, err
		}
	}
	return s, nil
}

// openNamed opens a new file in dir, beside path.
func openNamed(dir, path string, perm os.FileMode) (*os.File, error) {
	name := filepath.Join(dir, fmt.Sprintf(".%s-%x", filepath.Base(path), rand.Uint64()))
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// Content is what a file is made of.
type Content interface{ Write(w io.Writer) error }

// Write writes the file in one step: a reader finds the old file or the whole new one.
func (f *Saving) Write(s Content) error {
	if f.whole {
		return f.End(s.Write(f.Begin()))
	}
	out := holes.NewWriter(f.Tmp)
	return f.End(errors.Join(s.Write(out), out.Close()))
}

// Begin returns where the file is written, piece by piece. End ends that.
func (f *Saving) Begin() io.Writer {
	switch {
	case f.stdout != nil:
		return f.stdout
	case f.whole:
		f.Tmp.Truncate(0) // of a regular file
	}
	return f.Tmp
}

// End ends what Begin has begun: if all was written, which err says, the file gets its name.
func (f *Saving) End(err error) error {
	if err == nil && !f.whole && f.name == "" {
		err = f.giveName()
	}
	f.done = true
	if f.stdout == nil {
		err = errors.Join(err, f.Tmp.Close())
	}
	if err == nil && !f.whole {
		if err = os.Rename(f.name, f.to); err == nil {
			f.name = ""
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", f.flag, f.path, exit.WithoutName(err))
	}
	return nil
}

// Discard removes the temporary file, unless it has become the file.
func (f *Saving) Discard() {
	if f == nil {
		return
	}
	if !f.done && f.stdout == nil {
		f.Tmp.Close()
	}
	if f.name != "" {
		os.Remove(f.name)
	}
}
