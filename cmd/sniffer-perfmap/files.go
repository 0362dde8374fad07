package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sfwalk/sfwalk/internal/perfmap"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/plugin"
)

// Errors of opening a process's files; test with errors.Is.
var (
	errNone      = errors.New("the process has written neither a perf map nor a jitdump")
	errNoProcess = errors.New("it is not known what process this is")
	errDead      = errors.New("the process does not run, and where its files are is not known")
	errIrregular = errors.New("it is no regular file")
	errOwner     = errors.New("it belongs neither to the process's user nor to root")
)

// open returns the listings of a process.
func (s *sniffer) open(t *plugin.Target, modules []plugin.Module, a *arch.Arch) ([]*listing, error) {
	p, err := processOf(t)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()

	var list []*listing
	var errs []error
	try := func(name string, f func() format) {
		file, err := p.open(root, name)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
			return
		}
		l := s.keep(&listing{path: name, file: file, format: f})
		if err := l.update(firstReading); err != nil && !errors.Is(err, errNotYet) {
			errs = append(errs, err)
			return
		}
		list = append(list, l)
	}
	dump := func() format { return &jitDump{machine: uint16(a.Machine)} }
	for _, name := range p.dumps(modules) {
		if try(name, dump); len(list) > 0 {
			break
		}
	}
	try(fmt.Sprintf("/tmp/perf-%d.map", p.pid), func() format { return &perfMap{} })
	if len(list) == 0 {
		return nil, append(errs, errNone)[0]
	}
	return list, nil
}

// process has the facts about a process by which its files are found and trusted.
type process struct {
	root string // the folder that its files are below
	pid  int    // in its own PID namespace, which may be a container's
	uid  int    // its user, -1 if not known
}

func processOf(t *plugin.Target) (process, error) {
	p := process{root: t.Root, pid: t.PID, uid: -1}
	switch {
	case t.PID <= 0:
		return p, errNoProcess
	case !t.Live && t.Root == "":
		return p, errDead
	case t.Root == "":
		p.root = "/"
	}
	if !t.Live {
		return p, nil
	}
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", t.PID))
	if err != nil {
		return p, err
	}
	defer status.Close()
	if pid, uid := perfmap.Owner(status); pid > 0 {
		p.pid, p.uid = pid, uid
	}
	return p, nil
}

// dumps returns where the process's jitdump may be. A JIT maps the file, so that perf sees
// where it is.
func (p *process) dumps(modules []plugin.Module) []string {
	base := fmt.Sprintf("jit-%d.dump", p.pid)
	var names []string
	for _, m := range modules {
		if path.Base(m.Path) == base {
			names = append(names, m.Path)
		}
	}
	return append(names, "/tmp/"+base)
}

// open opens a file by the absolute name that the process knows it by. It follows no link out of
// the process's root. It refuses all but regular files of the process's user or root's before it
// reads a byte.
func (p *process) open(root *os.Root, name string) (*os.File, error) {
	inside := strings.TrimPrefix(path.Clean(name), "/")
	info, err := root.Lstat(inside)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, errIrregular)
	}
	f, err := root.OpenFile(inside, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	switch {
	case err != nil:
	case !opened.Mode().IsRegular() || !os.SameFile(info, opened): // it has changed meanwhile
		err = fmt.Errorf("%s: %w", name, errIrregular)
	case p.uid >= 0 && !ownedBy(opened, p.uid, 0):
		err = fmt.Errorf("%s: %w", name, errOwner)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
