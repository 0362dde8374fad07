package minidump

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/sfwalk/sfwalk/format/elf"
	peimage "github.com/sfwalk/sfwalk/format/pe"
)

// Files are files that several targets share: each is looked for and opened once, however many
// dumps name it. All targets must have the same root and folder of files. Files is safe for
// concurrent use; its zero value has none. Close closes the files, after all targets.
type Files struct {
	budget elf.Budget

	mu     sync.Mutex
	images map[place]*elf.Image
	pe     map[place]*peimage.Image
	none   map[wanted]error
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

// wanted is a file that a dump wants: at a place, with an identifier. Of a place without any file,
// id is "".
type wanted struct {
	place
	id string
}

// image opens the ELF file at a place, if check accepts it: the file with the identifier id is
// wanted. What is not accepted is closed.
func (f *Files) image(p place, by elf.Opener, id string, check func(*elf.Image) error) (*elf.Image, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if im := f.images[p]; im != nil {
		return im, check(im)
	}
	if err := f.missed(p, id); err != nil {
		return nil, err
	}
	im, file, err := elf.OpenFileBy(by, p.root, p.path)
	if err != nil {
		return nil, f.miss(p, id, err)
	}
	if err := check(im); err != nil {
		file.Close()
		return nil, f.miss(p, id, err)
	}
	im.Join(&f.budget)
	f.opened = append(f.opened, file)
	if f.images == nil {
		f.images = make(map[place]*elf.Image)
	}
	f.images[p] = im
	return im, nil
}

// peImage is image for PE files.
func (f *Files) peImage(p place, by elf.Opener, id string, check func(*peimage.Image) error) (*peimage.Image, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if im := f.pe[p]; im != nil {
		return im, check(im)
	}
	if err := f.missed(p, id); err != nil {
		return nil, err
	}
	file, err := by(p.root, p.path)
	if err != nil {
		return nil, f.miss(p, id, err)
	}
	im, err := peimage.Open(file)
	if err == nil {
		err = check(im)
	}
	if err != nil {
		file.Close()
		return nil, f.miss(p, id, err)
	}
	f.opened = append(f.opened, file)
	if f.pe == nil {
		f.pe = make(map[place]*peimage.Image)
	}
	f.pe[p] = im
	return im, nil
}

// missed returns why no file was accepted at a place; nil if nobody has looked. The caller holds
// the lock.
func (f *Files) missed(p place, id string) error {
	if err := f.none[wanted{p, ""}]; err != nil {
		return err
	}
	return f.none[wanted{p, id}]
}

// miss keeps why no file was accepted at a place. The caller holds the lock.
func (f *Files) miss(p place, id string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		id, err = "", fs.ErrNotExist // all the caller asks for; what it says of the path is longer than the path
	}
	if f.none == nil {
		f.none = make(map[wanted]error)
	}
	if len(f.none) < maxNone {
		f.none[wanted{p, id}] = err
	}
	return err
}
