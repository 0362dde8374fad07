package symbolstore

import (
	"os"
	"runtime"
	"sync"
	"weak"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// shared is a symbol file. Modules of several targets, such as the dumps of one program, share it
// as long as any of them lives.
type shared struct {
	mu   sync.Mutex
	file *breakpad.File // nil if it is not open
	info os.FileInfo
}

// opened are the files that are open, or about to be, by path.
var opened = struct {
	sync.Mutex
	files map[string]weak.Pointer[shared]
}{files: map[string]weak.Pointer[shared]{}}

// openShared opens a symbol file, or returns the one that is open if the file has not changed
// since.
func openShared(name string) (*shared, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	s := sharedAt(name, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil && (!os.SameFile(s.info, info) || s.info.Size() != info.Size() || !s.info.ModTime().Equal(info.ModTime())) {
		s = sharedAt(name, s) // others go on with what they have
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	if s.file == nil {
		err = s.open(name)
	}
	return s, err
}

// sharedAt returns what stands for the file at a path, unless it is old; then another one takes its
// place.
func sharedAt(name string, old *shared) *shared {
	opened.Lock()
	defer opened.Unlock()
	if s := opened.files[name].Value(); s != nil && s != old {
		return s
	}
	s := new(shared)
	p := weak.Make(s)
	opened.files[name] = p
	runtime.AddCleanup(s, func(name string) {
		opened.Lock()
		defer opened.Unlock()
		if opened.files[name] == p {
			delete(opened.files, name)
		}
	}, name)
	return s
}

func (s *shared) open(name string) error {
	file, err := regular.Open(name)
	if err != nil {
		return err
	}
	if s.info, err = file.Stat(); err == nil {
		s.file, err = openKept(name, file, s.info)
	}
	if err != nil {
		s.file = nil
		file.Close()
	}
	return err
}
