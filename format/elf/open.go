package elf

import (
	"io"
	"os"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/regular"
)

// OpenFile opens an ELF file of this machine. name may come from an untrusted target: OpenFile
// opens regular files only, and never waits. The caller must keep the file open while it uses the
// image, and close it then.
func OpenFile(name string) (*Image, *os.File, error) { return OpenFileIn("", name) }

// OpenFileIn is OpenFile for a path below root, the folder with the target's files. Neither .. nor
// a symbolic link leads out of root, and absolute links begin there, as after chroot(2). If root is
// "", OpenFileIn is OpenFile.
func OpenFileIn(root, name string) (*Image, *os.File, error) { return OpenFileBy(nil, root, name) }

// Opener opens a file at a path below root, as [OpenFileIn] does, perhaps with fewer rights than
// this program has.
type Opener func(root, name string) (*os.File, error)

// OpenFileBy is [OpenFileIn] for a file that by opens; nil opens it with this program's rights.
func OpenFileBy(by Opener, root, name string) (*Image, *os.File, error) {
	at := regular.At{Root: root, Path: name}
	im, file, err := open(at, by, Open)
	if err == nil {
		im.at(at)
	}
	return im, file, err
}

// OpenFileIn is the function [OpenFileIn], but returns the same image each time that the same file
// is opened. From the second time on the *os.File is nil: the first one must stay open.
func (c *Cache) OpenFileIn(root, name string) (*Image, *os.File, error) {
	return c.OpenFileBy(nil, root, name)
}

// OpenFileBy is [Cache.OpenFileIn] for a file that by opens; nil opens it with the rights of this
// program.
func (c *Cache) OpenFileBy(by Opener, root, name string) (*Image, *os.File, error) {
	again := false
	at := regular.At{Root: root, Path: name}
	im, file, err := open(at, by, func(r io.ReaderAt, size int64) (im *Image, err error) {
		im, again, err = c.open(r, size, at)
		return im, err
	})
	if again {
		file.Close()
		file = nil
	}
	return im, file, err
}

// at notes the place of the image's file.
func (im *Image) at(at regular.At) { im.Path, im.Root, im.Inside = at.String(), at.Root, at.Path }

func open(at regular.At, by Opener, read func(io.ReaderAt, int64) (*Image, error)) (*Image, *os.File, error) {
	if by == nil {
		by = regular.Word{}.Open
	}
	f, err := by(at.Root, at.Path)
	if err != nil {
		return nil, nil, err
	}
	known, err := elffile.Know(f)
	var im *Image
	if err == nil {
		im, err = read(known, known.Size())
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return im, f, nil
}
