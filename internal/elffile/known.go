package elffile

import "os"

// Known is an open file with what stat(2) has said of it, which [There] and [Identity] need not ask
// for again.
type Known struct {
	*os.File
	info os.FileInfo
}

// Know asks for a file's record.
func Know(f *os.File) (*Known, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &Known{f, info}, nil
}

// Size returns the file's size in bytes, as it was.
func (k *Known) Size() int64 { return k.info.Size() }
