package target

import (
	"os"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// OpenFile opens an ELF file of this machine. The path may be one that the
// target chose: what is not a regular file is not read, and not waited for.
// The file must stay open for as long as the image is used.
func OpenFile(name string) (*Image, *os.File, error) { return OpenFileIn("", name) }

// OpenFileIn is OpenFile for a path below a folder that is the root of the target's files: neither
// .. nor a symbolic link leads out of it, and absolute links begin there, as after chroot(2).
// With no root, "", it is OpenFile.
func OpenFileIn(root, name string) (*Image, *os.File, error) {
	at := regular.At{Root: root, Path: name}
	f, err := at.Open()
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	var im *Image
	if err == nil {
		im, err = OpenImage(f, st.Size())
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	im.Path, im.Root, im.Inside = at.String(), root, name
	return im, f, nil
}
