package target

import (
	"io"
	"sync"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// Shared keeps one image of each file, whatever names it is opened by and wherever it is mapped:
// what is read of it is read once. Its zero value is empty. It is safe for concurrent use.
type Shared struct {
	mu     sync.Mutex
	images map[any]*Image
}

// Open is [OpenImage], or the image of the same file that was opened before, which reads what it
// was opened with; again says that it is that.
func (s *Shared) Open(r io.ReaderAt, size int64) (im *Image, again bool, err error) {
	return s.open(r, size, regular.At{})
}

func (s *Shared) open(r io.ReaderAt, size int64, at regular.At) (im *Image, again bool, err error) {
	id, ok := elffile.Identity(r, size)
	if !ok {
		if im, err = OpenImage(r, size); err == nil {
			im.at(at)
		}
		return im, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if im = s.images[id]; im != nil {
		return im, true, nil
	}
	if im, err = OpenImage(r, size); err != nil {
		return nil, false, err
	}
	im.at(at)
	if s.images == nil {
		s.images = make(map[any]*Image)
	}
	s.images[id] = im
	return im, false, nil
}
