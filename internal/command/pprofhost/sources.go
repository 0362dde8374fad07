package pprofhost

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	profiling "github.com/sfwalk/sfwalk/internal/command/profile"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds of the source files that are copied, bytes.
const (
	maxSource  = 16 << 20 // one file
	maxSources = 256 << 20
)

// Bounds of the names of source files: how many, and the length of one and of its parts, bytes.
const (
	maxNames = 1 << 16
	maxPath  = 3000
	maxPart  = 255
)

// sources are copies of source files, below a folder of this user's alone. pprof opens whatever
// name debug information has, and looks for a relative one in all folders up to the root. So it is
// told to look below dir, where each name of the profile has a file: the source, or a sentence that
// says why it is not there.
type sources struct {
	pages profiling.Pages
	dir   string

	mu    sync.Mutex
	known map[string]bool // whether the source is there, by name
	size  int
}

func newSources(pages profiling.Pages) (*sources, error) {
	dir, err := os.MkdirTemp("", "sfwalk-sources-")
	return &sources{pages: pages, dir: dir, known: map[string]bool{}}, err
}

func (s *sources) close() { os.RemoveAll(s.dir) }

// args have pprof look for sources in dir alone.
func (s *sources) args() []string { return []string{"-source_path=" + s.dir, "-trim_path=/"} }

// clean returns a name as pprof is told it.
func clean(file string) string {
	if file == "" {
		return ""
	}
	whole := path.Clean("/" + file)
	if !path.IsAbs(file) {
		whole = whole[1:]
	}
	whole = printable.Escape(whole)
	long := func(part string) bool { return len(part) > maxPart }
	if len(whole) > maxPath || slices.ContainsFunc(strings.Split(whole, "/"), long) {
		return ""
	}
	return whole
}

// name returns the name of a source file for pprof. If copied, it has the source; else a file that
// says that it has not. It is "" if there can be no such file: pprof must not look for it
// elsewhere.
func (s *sources) name(m *target.Module, file string, copied bool) string {
	name := clean(file)
	if name == "" {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if there, ok := s.known[name]; ok && (there || !copied) {
		return name
	}
	if len(s.known) >= maxNames {
		return ""
	}
	text := []byte("(the source is not read)\n")
	if copied {
		var err error
		if text, err = s.read(m, file); err != nil {
			text = printable.Appendf(nil, "(%v)\n", err)
		}
	}
	to := filepath.Join(s.dir, filepath.FromSlash(name))
	if os.MkdirAll(filepath.Dir(to), 0o700) != nil || os.WriteFile(to, text, 0o600) != nil {
		return ""
	}
	s.known[name] = copied
	s.size += len(text)
	return name
}

// read returns a source file.
func (s *sources) read(m *target.Module, file string) ([]byte, error) {
	if s.size > maxSources {
		return nil, errors.New("too many source files were shown")
	}
	f, err := s.pages.Source(m, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSource))
}

// rename gives a profile's source files the names that pprof is told. A name that is the folder of
// another one, or that no file can have, is not told.
func rename(p *profile.Profile) {
	folders := map[string]bool{}
	for _, f := range p.Function {
		f.Filename = clean(f.Filename)
		for dir := "/" + strings.TrimPrefix(f.Filename, "/"); len(dir) > 1; {
			if dir = path.Dir(dir); folders[dir] {
				break
			}
			folders[dir] = true
		}
	}
	for _, f := range p.Function {
		if folders["/"+strings.TrimPrefix(f.Filename, "/")] {
			f.Filename = ""
		}
	}
}

// prepare makes the files of all names in a profile, before pprof opens any. It copies the sources
// of the functions whose name, or whose file's, is like what a page asks for.
func (s *sources) prepare(p *profile.Profile, asked string) error {
	for _, f := range p.Function {
		if f.Filename != "" && s.name(nil, f.Filename, false) == "" {
			const why = "the source files cannot be shown: there are too many, or there is no file %s below %s"
			return fmt.Errorf(why, f.Filename, s.dir)
		}
	}
	like, err := regexp.Compile(asked)
	if err != nil {
		return err
	}
	seen := map[*profile.Function]bool{}
	for _, l := range p.Location {
		for _, line := range l.Line {
			f := line.Function
			if f == nil || seen[f] || !like.MatchString(f.Name) && !like.MatchString(f.Filename) {
				continue
			}
			seen[f] = true
			var m *target.Module
			if l.Mapping != nil {
				m = s.pages.Module(l.Mapping.File, l.Address)
			}
			s.name(m, f.Filename, true)
		}
	}
	return nil
}
