package fetch

import (
	"errors"
	"io/fs"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// fromFile answers as a server that is a folder of this machine (file://).
func fromFile(path string) (answer, error) {
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return answer{}, errNone
	}
	if err != nil {
		return answer{}, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return answer{}, err
	}
	return answer{body: f, size: info.Size(), time: info.ModTime()}, nil
}
