package minidump

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/peimage"
)

// Files are files that several targets share: each is looked for and opened once, however many dumps name it. All targets must have the
// same root and folder of files. Files is safe for concurrent use; its zero value has none. Close closes the files, after all targets.
type Files struct {
	budget elfimage.Budget

	mu     sync.Mutex
	cache  elfimage.Cache
	images map[place]*elfimage.Image
	pe     map[place]*peimage.Image
	none   map[place]error
	opened []*os.File
}

const (
	maxShared = 128     // files that are open at once
	maxNone   = 1 << 14 // places without a file that are kept: dumps may name any
)

// Full reports whether so much was opened that later targets should share another Files.
func (f *Files) Full() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.opened) >= maxShared || len(f.none) >= maxNone || f.budget.Tight()
}

// Close closes the files.
func (f *Files) Close() (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, file := range f.opened {
		err = errors.Join(err, file.Close())
	}
	f.opened, f.images, f.pe = nil, nil, nil
	return err
}

// image opens the ELF file at a place.
func (f *Files) image(p place) (*elfimage.Image, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if im := f.images[p]; im != nil {
		return im, nil
	}
	if err := f.none[p]; err != nil {
		return nil, err
	}
	im, file, err := f.cache.OpenFileIn(p.root, p.path)
	if err != nil {
		return nil, f.miss(p, err)
	}
	if file != nil {
		f.opened = append(f.opened, file)
		im.Join(&f.budget)
	}
	if f.images == nil {
		f.images = make(map[place]*elfimage.Image)
	}
	f.images[p] = im
	return im, nil
}

// peImage opens the PE file at a place.
func (f *Files) peImage(p place) (*peimage.Image, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if im := f.pe[p]; im != nil {
		return im, nil
	}
	if err := f.none[p]; err != nil {
		return nil, err
	}
	file, err := regular.At{Root: p.root, Path: p.path}.Open()
	if err != nil {
		return nil, f.miss(p, err)
	}
	im, err := peimage.Open(file)
	if err != nil {
		file.Close()
		return nil, f.miss(p, err)
	}
	f.opened = append(f.opened, file)
	if f.pe == nil {
		f.pe = make(map[place]*peimage.Image)
	}
	f.pe[p] = im
	return im, nil
}

// miss keeps why no file was opened at a place. The caller holds the lock.
func (f *Files) miss(p place, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = fs.ErrNotExist // all the caller asks for; what it says of the path is longer than the path
	}
	if f.none == nil {
		f.none = make(map[place]error)
	}
	if len(f.none) < maxNone {
		f.none[p] = err
	}
	return err
}
