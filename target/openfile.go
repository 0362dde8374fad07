package target

import (
	"fmt"
	"os"
	"syscall"
)

// OpenFile opens an ELF file of this machine. The path may be one that the
// target chose: what is not a regular file is not read, and not waited for.
// The file must stay open for as long as the image is used.
func OpenFile(name string) (*Image, *os.File, error) {
	if st, err := os.Stat(name); err != nil {
		return nil, nil, err
	} else if !st.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("not a regular file (%v)", st.Mode().Type())
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("not a regular file (%v)", st.Mode().Type())
	}
	var im *Image
	if err == nil {
		im, err = OpenImage(f, st.Size())
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	im.Path = name
	return im, f, nil
}
